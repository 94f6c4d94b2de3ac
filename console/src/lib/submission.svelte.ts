/**
 * What a form does when it is sent: once at a time, and `error` says what went wrong until it is sent again.
 * `submit` is for the form's `onsubmit`, and for buttons that send it without one; it never rejects.
 */
export function createSubmission(work: () => Promise<unknown>, onerror?: (error: unknown) => void) {
  const submission = $state({ isBusy: false, error: null as unknown, submit });
  async function submit(event?: Event): Promise<void> {
    event?.preventDefault();
    if (submission.isBusy) return;
    submission.isBusy = true;
    submission.error = null;
    try {
      await work();
    } catch (error) {
      submission.error = error;
      onerror?.(error);
    } finally {
      submission.isBusy = false;
    }
  }
  return submission;
}

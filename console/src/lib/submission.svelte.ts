/** Runs one submission at a time. `submit` never rejects: `error` holds the last error. */
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

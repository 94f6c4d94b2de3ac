import { toast } from "svelte-sonner";

/**
 * Copies a text. Reports success in a toast if the button is gone, as in a menu. Without `done`, reports only
 * failures.
 */
export async function copyText(text: string, done = ""): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Browsers restrict the clipboard to https.
    toast.error("The browser blocked copying. Select the text and copy it manually.");
    return false;
  }
  if (done) toast.success(done);
  return true;
}

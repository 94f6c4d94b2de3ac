import { toast } from "svelte-sonner";

/**
 * Copies a text. Reports failures in a toast, and success with the text `done`, for buttons that disappear, such
 * as those of menus.
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

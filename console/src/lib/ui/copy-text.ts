import { toast } from "svelte-sonner";

/**
 * Returns whether the text was copied. Shows a toast for a failure, and for a success if `done` is set. Menus set
 * `done`, because they close.
 */
export async function copyText(text: string, done = ""): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Browsers offer the clipboard only over HTTPS and on localhost.
    toast.error("The browser blocked copying. Select the text and copy it manually.");
    return false;
  }
  if (done) toast.success(done);
  return true;
}

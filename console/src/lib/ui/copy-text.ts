import { toast } from "svelte-sonner";

/** Copies, and says so where the button that asked for it is gone already, as a menu's is. Without `done` it says only when it cannot. */
export async function copyText(text: string, done = ""): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without https browsers give pages no clipboard.
    toast.error("The browser blocked copying. Select the text and copy it manually.");
    return false;
  }
  if (done) toast.success(done);
  return true;
}

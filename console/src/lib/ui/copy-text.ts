import { toast } from "svelte-sonner";

/** Copies, and says so where the button that asked for it is gone already, as a menu's is. Without `done` it says only when it cannot. */
export async function copyText(text: string, done = ""): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without https browsers give pages no clipboard.
    toast.error("The browser does not let this page copy. Select the text and copy it by hand.");
    return false;
  }
  if (done) toast.success(done);
  return true;
}

import { toast } from "svelte-sonner";
import { explainError } from "#lib/session/explain-error.ts";

/** Says that something did not work, where no form or dialog is open to say it in. */
export function reportError(title: string, error: unknown): void {
  const { message, requestId } = explainError(error);
  toast.error(title, { description: requestId ? `${message} Request ${requestId}` : message });
}

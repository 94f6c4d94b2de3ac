import { toast } from "svelte-sonner";
import { explainError } from "#lib/session/explain-error.ts";

/** Reports a failure in a toast. Forms and dialogs show their own failures. */
export function reportError(title: string, error: unknown): void {
  const { message, requestId } = explainError(error);
  toast.error(title, { description: requestId ? `${message} Request ${requestId}` : message });
}

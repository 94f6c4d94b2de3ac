import { toast } from "svelte-sonner";
import { explainError } from "#lib/session/explain-error.ts";

/** Reports a failure outside forms and dialogs. */
export function reportError(title: string, error: unknown): void {
  const { message, requestId } = explainError(error);
  toast.error(title, { description: requestId ? `${message} Request ${requestId}` : message });
}

import { TRPCClientError } from "@trpc/client";
import { GraphqlError } from "./graphql.ts";

export type Explanation = {
  message: string;
  requestId: string | null;
  /** The part of the input that is wrong. */
  param: string | null;
  code: string | null;
  /** Which revision the thing has now, where somebody else changed it meanwhile. */
  currentRevision: number | null;
};

/** What to tell a person about a call that failed. */
export function explainError(error: unknown): Explanation {
  if (!(error instanceof TRPCClientError)) {
    const message = error instanceof Error ? error.message : String(error);
    // Errors of the usage history and of the playground name their request too.
    const requestId =
      error instanceof Error && "requestId" in error ? (error.requestId as string | null) : null;
    const code = error instanceof GraphqlError ? error.code : null;
    return { message, requestId, param: null, code, currentRevision: null };
  }
  const { requestId = null, param = null, code = null, currentRevision = null }: ErrorData = error.data ?? {};
  const shown = { requestId, param, code, currentRevision };
  if (!error.data) {
    const message = "The gateway cannot be reached. Check that it is running and that you are online.";
    return { ...shown, message };
  }
  return { ...shown, message: inWords(error.message) };
}

/** Complaints about an input come as a list of "✖ must not be empty → at name". Where they belong is in `param`. */
function inWords(message: string): string {
  return message.replace(/\s*→ at .*$/gm, "").replace(/^✖ /gm, "");
}

type ErrorData = Partial<{
  requestId: string | null;
  param: string | null;
  code: string | null;
  currentRevision: number | null;
}>;

/** What is wrong with one field, to be shown beside it; null where the error is about something else. */
export function explainField(error: unknown, param: string): string | null {
  if (!error) return null;
  const shown = explainError(error);
  return shown.param === param ? shown.message : null;
}

/** Whether it is about one of these fields, and so is shown beside it already. */
export function isAboutField(error: unknown, params: string[]): boolean {
  return params.includes(explainError(error).param ?? "");
}

/** Whether trying again by itself can help: nobody answered, or the gateway shown that it cannot serve now. */
export function isTemporary(error: unknown): boolean {
  const { code } = explainError(error);
  const isCall = error instanceof TRPCClientError || error instanceof GraphqlError;
  return isCall && (code === null || code === "SERVICE_UNAVAILABLE");
}

import { TRPCClientError } from "@trpc/client";
import { GraphqlError } from "./graphql.ts";

export type Explanation = {
  message: string;
  requestId: string | null;
  /** The path of the invalid input member, such as `timeouts.idleTimeoutMs`. Null for any other error. */
  param: string | null;
  code: string | null;
  /** The current revision, after a concurrent change. */
  currentRevision: number | null;
};

export function explainError(error: unknown): Explanation {
  if (!(error instanceof TRPCClientError)) {
    const message = error instanceof Error ? error.message : String(error);
    // Errors of the usage history and the playground also have a request ID.
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

/** Removes the marks and locations that Zod adds: "✖ The name is empty. Enter a name. → at name". */
function inWords(message: string): string {
  return message.replace(/\s*→ at .*$/gm, "").replace(/^✖ /gm, "");
}

type ErrorData = Partial<{
  requestId: string | null;
  param: string | null;
  code: string | null;
  currentRevision: number | null;
}>;

/** The message of an error about the field `param`. Null for any other error. */
export function explainField(error: unknown, param: string): string | null {
  if (!error) return null;
  const shown = explainError(error);
  return shown.param === param ? shown.message : null;
}

export function isAboutField(error: unknown, params: string[]): boolean {
  return params.includes(explainError(error).param ?? "");
}

/** Whether an automatic retry can help: the gateway is unreachable or temporarily unavailable. */
export function isTemporary(error: unknown): boolean {
  const { code } = explainError(error);
  const isCall = error instanceof TRPCClientError || error instanceof GraphqlError;
  return isCall && (code === null || code === "SERVICE_UNAVAILABLE");
}

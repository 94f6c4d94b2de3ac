import { TRPCClientError } from "@trpc/client";
import { GraphqlError } from "./graphql.ts";

export type Explanation = {
  message: string;
  requestId: string | null;
  param: string | null;
  code: string | null;
};

/** What to tell a person about a call that failed. */
export function explainError(error: unknown): Explanation {
  if (!(error instanceof TRPCClientError)) {
    const message = error instanceof Error ? error.message : String(error);
    // Errors of the usage history and of the playground name their request too.
    const requestId =
      error instanceof Error && "requestId" in error ? (error.requestId as string | null) : null;
    return { message, requestId, param: null, code: error instanceof GraphqlError ? error.code : null };
  }
  const data: Partial<{ requestId: string; param: string; code: string }> = error.data ?? {};
  const said = { requestId: data.requestId ?? null, param: data.param ?? null, code: data.code ?? null };
  if (!error.data) {
    const message = "The gateway cannot be reached. Check that it is running and that you are online.";
    return { ...said, message };
  }
  return { ...said, message: inWords(error.message) };
}

/** Complaints about an input come as a list of "✖ must not be empty → at name". Where they belong is in `param`. */
function inWords(message: string): string {
  return message.replace(/\s*→ at .*$/gm, "").replace(/^✖ /gm, "");
}

/** Whether trying again by itself can help: nobody answered, or the gateway said that it cannot serve now. */
export function isTemporary(error: unknown): boolean {
  const { code } = explainError(error);
  const isCall = error instanceof TRPCClientError || error instanceof GraphqlError;
  return isCall && (code === null || code === "SERVICE_UNAVAILABLE");
}

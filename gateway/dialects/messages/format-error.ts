import type { ShownError } from "../dialect.ts";

/** https://platform.claude.com/docs/en/api/errors */
export function formatError({ status, message, requestId }: ShownError): object {
  const type = types.get(status) ?? (status >= 500 && status < 600 ? "api_error" : "invalid_request_error");
  return { type: "error", error: { type, message }, request_id: requestId };
}

/** https://platform.claude.com/docs/en/build-with-claude/streaming#error-events */
export function formatErrorEvent(error: ShownError): string {
  return `event: error\ndata: ${JSON.stringify(formatError(error))}\n\n`;
}

/** Those that clients can act on: by them, SDKs choose whether to try again. */
const types = new Map([
  [401, "authentication_error"],
  [402, "billing_error"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [413, "request_too_large"],
  [429, "rate_limit_error"],
  [503, "overloaded_error"],
  [504, "timeout_error"],
  [529, "overloaded_error"],
]);

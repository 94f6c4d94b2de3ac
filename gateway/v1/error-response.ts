import type { Dialect, ShownError, StreamWriter } from "../dialects/dialect.ts";
import type { ErrorCode, GatewayError } from "../errors.ts";

const invalidRequest = (status: number, code: string | null) => ({
  status,
  type: "invalid_request_error",
  code,
});

const table: Record<ErrorCode, { status: number; type: string; code: string | null }> = {
  missing_api_key: invalidRequest(401, null),
  invalid_api_key: invalidRequest(401, "invalid_api_key"),
  model_not_found: invalidRequest(404, "model_not_found"),
  invalid_body: invalidRequest(400, null),
  missing_required_parameter: invalidRequest(400, "missing_required_parameter"),
  invalid_type: invalidRequest(400, "invalid_type"),
  invalid_value: invalidRequest(400, "invalid_value"),
  unsupported_parameter: invalidRequest(400, "unsupported_parameter"),
  request_too_large: invalidRequest(413, "request_too_large"),
  request_timeout: invalidRequest(408, "request_timeout"),
  unsupported_encoding: invalidRequest(415, "unsupported_encoding"),
  unknown_url: invalidRequest(404, "unknown_url"),
  upgrade_refused: invalidRequest(426, "upgrade_refused"),
  method_not_allowed: invalidRequest(405, "method_not_allowed"),
  // OpenAI's API sends a code for `previous_response_not_found`, but none for the next two errors.
  previous_response_not_found: invalidRequest(400, "previous_response_not_found"),
  item_not_found: invalidRequest(404, null),
  response_not_found: invalidRequest(404, null),
  websocket_connection_limit_reached: invalidRequest(400, "websocket_connection_limit_reached"),
  rate_limit_exceeded: { status: 429, type: "requests", code: "rate_limit_exceeded" },
  token_limit_exceeded: { status: 429, type: "tokens", code: "rate_limit_exceeded" },
  concurrency_limit_exceeded: { status: 429, type: "requests", code: "rate_limit_exceeded" },
  insufficient_quota: { status: 402, type: "insufficient_quota", code: "insufficient_quota" },
  // The response is the same as for an invalid key, so a thief learns nothing about the allowed addresses.
  address_not_allowed: invalidRequest(401, "invalid_api_key"),
  upstream_rejected: invalidRequest(400, null),
  upstream_auth_failed: { status: 502, type: "server_error", code: "upstream_auth_failed" },
  upstream_error: { status: 502, type: "server_error", code: "upstream_error" },
  upstream_timeout: { status: 504, type: "server_error", code: "upstream_timeout" },
  unauthenticated: invalidRequest(401, "unauthenticated"),
  forbidden: invalidRequest(403, "forbidden"),
  not_found: invalidRequest(404, "not_found"),
  conflict: invalidRequest(409, "conflict"),
  too_many_attempts: { status: 429, type: "requests", code: "rate_limit_exceeded" },
  service_unavailable: { status: 503, type: "server_error", code: "service_unavailable" },
  internal_error: { status: 500, type: "server_error", code: "internal_error" },
};

export function statusOf(error: GatewayError, dialect: Dialect): number {
  return error.upstream?.status ?? describeError(error.code, dialect).status;
}

export function describeError(code: ErrorCode, dialect: Dialect): { status: number; code: string | null } {
  // Codex repeats a request six times after status 404, so `/v1/responses` returns 400.
  const isHidden = code === "model_not_found" && dialect.endpointName === "responses";
  return isHidden ? { ...table[code], status: 400 } : table[code];
}

export function toErrorBody(error: GatewayError, dialect: Dialect, requestId: string): object {
  return dialect.formatError(toShownError(error, dialect, requestId));
}

export function toErrorEvent(
  error: GatewayError,
  dialect: Dialect,
  requestId: string,
  writer: StreamWriter | null,
): string {
  return dialect.formatErrorEvent(toShownError(error, dialect, requestId), writer);
}

export function errorHeaders(error: GatewayError): string[] {
  return error.retryAfterSeconds === null ? [] : ["retry-after", String(error.retryAfterSeconds)];
}

function toShownError(error: GatewayError, dialect: Dialect, requestId: string): ShownError {
  const { type, code } = error.upstream ?? table[error.code];
  const { message, details } = error;
  const param = error.upstream?.param ?? error.param;
  return { status: statusOf(error, dialect), message, type, param, code, details, requestId };
}

import type { ErrorCode, GatewayError } from "../errors.ts";

/** An error as `/v1` shows it, in OpenAI's form with all four members. */
export type ErrorBody = {
  error: { message: string; type: string; param: string | null; code: string | null };
};

/** What becomes of each error on `/v1`; every code has a line, or this does not compile. */
const table: Record<ErrorCode, { status: number; type: string; code: string | null }> = {
  missing_api_key: { status: 401, type: "invalid_request_error", code: null },
  invalid_api_key: { status: 401, type: "invalid_request_error", code: "invalid_api_key" },
  model_not_found: { status: 404, type: "invalid_request_error", code: "model_not_found" },
  invalid_body: { status: 400, type: "invalid_request_error", code: null },
  missing_required_parameter: {
    status: 400,
    type: "invalid_request_error",
    code: "missing_required_parameter",
  },
  invalid_type: { status: 400, type: "invalid_request_error", code: "invalid_type" },
  invalid_value: { status: 400, type: "invalid_request_error", code: "invalid_value" },
  unsupported_parameter: { status: 400, type: "invalid_request_error", code: "unsupported_parameter" },
  request_too_large: { status: 413, type: "invalid_request_error", code: "request_too_large" },
  request_timeout: { status: 408, type: "invalid_request_error", code: "request_timeout" },
  unsupported_encoding: { status: 415, type: "invalid_request_error", code: "unsupported_encoding" },
  unknown_url: { status: 404, type: "invalid_request_error", code: "unknown_url" },
  method_not_allowed: { status: 405, type: "invalid_request_error", code: "method_not_allowed" },
  upstream_rejected: { status: 400, type: "invalid_request_error", code: null },
  upstream_auth_failed: { status: 502, type: "server_error", code: "upstream_auth_failed" },
  upstream_error: { status: 502, type: "server_error", code: "upstream_error" },
  upstream_timeout: { status: 504, type: "server_error", code: "upstream_timeout" },
  unauthenticated: { status: 401, type: "invalid_request_error", code: "unauthenticated" },
  forbidden: { status: 403, type: "invalid_request_error", code: "forbidden" },
  not_found: { status: 404, type: "invalid_request_error", code: "not_found" },
  conflict: { status: 409, type: "invalid_request_error", code: "conflict" },
  too_many_attempts: { status: 429, type: "requests", code: "rate_limit_exceeded" },
  service_unavailable: { status: 503, type: "server_error", code: "service_unavailable" },
  internal_error: { status: 500, type: "server_error", code: "internal_error" },
};

/** The upstream's own status where it refused the request, else the table's. */
export function statusOf(error: GatewayError): number {
  return error.upstream?.status ?? table[error.code].status;
}

export function toErrorBody(error: GatewayError): ErrorBody {
  const { type, code } = error.upstream ?? table[error.code];
  return { error: { message: error.message, type, param: error.upstream?.param ?? error.param, code } };
}

/** Headers, names and values in turn, that go with the error besides the body's own. */
export function errorHeaders(error: GatewayError): string[] {
  return error.retryAfterSeconds === null ? [] : ["retry-after", String(error.retryAfterSeconds)];
}

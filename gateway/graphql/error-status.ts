import type { ErrorCode, GatewayError } from "../errors.ts";

export function statusOf({ code }: GatewayError): number {
  return statuses[code];
}

const statuses: Record<ErrorCode, number> = {
  missing_api_key: 401,
  invalid_api_key: 401,
  model_not_found: 404,
  invalid_body: 400,
  missing_required_parameter: 400,
  invalid_type: 400,
  invalid_value: 400,
  unsupported_parameter: 400,
  request_too_large: 413,
  request_timeout: 408,
  unsupported_encoding: 415,
  unknown_url: 404,
  method_not_allowed: 405,
  upgrade_refused: 426,
  previous_response_not_found: 400,
  item_not_found: 404,
  response_not_found: 404,
  websocket_connection_limit_reached: 400,
  rate_limit_exceeded: 429,
  token_limit_exceeded: 429,
  concurrency_limit_exceeded: 429,
  insufficient_quota: 402,
  address_not_allowed: 401,
  upstream_rejected: 502,
  upstream_auth_failed: 502,
  upstream_error: 502,
  upstream_timeout: 504,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_many_attempts: 429,
  service_unavailable: 503,
  internal_error: 500,
};

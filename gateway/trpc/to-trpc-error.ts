import { TRPCError } from "@trpc/server";
import type { TRPC_ERROR_CODE_KEY } from "@trpc/server/rpc";
import type { ErrorCode, GatewayError } from "../errors.ts";

export function toTrpcError(error: GatewayError): TRPCError {
  return new TRPCError({ code: table[error.code], message: error.message, cause: error });
}

const table: Record<ErrorCode, TRPC_ERROR_CODE_KEY> = {
  missing_api_key: "UNAUTHORIZED",
  invalid_api_key: "UNAUTHORIZED",
  model_not_found: "NOT_FOUND",
  invalid_body: "BAD_REQUEST",
  missing_required_parameter: "BAD_REQUEST",
  invalid_type: "BAD_REQUEST",
  invalid_value: "BAD_REQUEST",
  unsupported_parameter: "BAD_REQUEST",
  request_too_large: "PAYLOAD_TOO_LARGE",
  request_timeout: "TIMEOUT",
  unsupported_encoding: "UNSUPPORTED_MEDIA_TYPE",
  unknown_url: "NOT_FOUND",
  method_not_allowed: "METHOD_NOT_SUPPORTED",
  upgrade_refused: "METHOD_NOT_SUPPORTED",
  previous_response_not_found: "BAD_REQUEST",
  item_not_found: "NOT_FOUND",
  response_not_found: "NOT_FOUND",
  websocket_connection_limit_reached: "BAD_REQUEST",
  rate_limit_exceeded: "TOO_MANY_REQUESTS",
  token_limit_exceeded: "TOO_MANY_REQUESTS",
  concurrency_limit_exceeded: "TOO_MANY_REQUESTS",
  insufficient_quota: "PAYMENT_REQUIRED",
  address_not_allowed: "UNAUTHORIZED",
  upstream_rejected: "BAD_GATEWAY",
  upstream_auth_failed: "BAD_GATEWAY",
  upstream_error: "BAD_GATEWAY",
  upstream_timeout: "GATEWAY_TIMEOUT",
  unauthenticated: "UNAUTHORIZED",
  forbidden: "FORBIDDEN",
  not_found: "NOT_FOUND",
  conflict: "CONFLICT",
  too_many_attempts: "TOO_MANY_REQUESTS",
  service_unavailable: "SERVICE_UNAVAILABLE",
  internal_error: "INTERNAL_SERVER_ERROR",
};

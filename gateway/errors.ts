import type { holderColumns } from "../db/entities/api-key.ts";
import { DatabaseUnavailableError, QueryTooLongError } from "../db/database-errors.ts";

/** An error whose message may be shown to the client. `cause` is for the log only. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly code: ErrorCode;
  /** The invalid part of the request, such as `messages[0].role`. */
  readonly param: string | null;
  readonly retryAfterSeconds: number | null;
  /** Whether every retry of the same request would fail too. */
  readonly isFinal: boolean;
  readonly limitedBy: LimitHolder | null;
  readonly reason: ErrorReason | null;
  /** The current revision, if the edit was based on an older revision. */
  readonly currentRevision: number | null;
  /** Replaces the response's default status, type and code. */
  readonly upstream: UpstreamErrorDetails | null;
  /** Anthropic's `error.details`, which Anthropic's SDKs read. */
  readonly details: object | null;
  /** Set if a response with status 200 contains this error, or nothing, instead of an answer. */
  readonly withoutAnswer: WithoutAnswer | null;

  constructor(code: ErrorCode, message: string, details: GatewayErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.param = details.param ?? null;
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
    this.isFinal = details.isFinal ?? false;
    this.limitedBy = details.limitedBy ?? null;
    this.reason = details.reason ?? null;
    this.currentRevision = details.currentRevision ?? null;
    this.upstream = details.upstream ?? null;
    this.details = details.details ?? null;
    this.withoutAnswer = details.withoutAnswer ?? null;
  }
}

/** Every error code, with the HTTP status of its responses. `/v1` has its own table. */
export const errorStatuses = {
  // Invalid requests, mostly to /v1.
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
  // Limits of keys, users and the gateway.
  rate_limit_exceeded: 429,
  token_limit_exceeded: 429,
  concurrency_limit_exceeded: 429,
  insufficient_quota: 402,
  address_not_allowed: 401,
  // Upstream failures.
  upstream_rejected: 502,
  upstream_auth_failed: 502,
  upstream_error: 502,
  upstream_timeout: 504,
  // Errors of the console API.
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_many_attempts: 429,
  // Failures of the gateway.
  service_unavailable: 503,
  internal_error: 500,
} as const;

export type ErrorCode = keyof typeof errorStatuses;

/** The holder of a limit or budget: an API key, somebody with several keys, or the whole gateway. */
export type LimitHolder = "key" | keyof typeof holderColumns | "gateway";
/** More specific than the error code. */
export type ErrorReason = LimitReason | FailureReason;
export type LimitReason =
  | "requests_per_minute"
  | "tokens_per_minute"
  | "concurrent_requests"
  | "budget_per_day"
  | "budget_per_week"
  | "budget_per_month"
  | "budget_total";
export type FailureReason =
  // The gateway did not reach the provider.
  | "invalid_address_or_key"
  | "private_address"
  | "host_not_found"
  | "host_lookup_failed"
  | "host_unreachable"
  | "connection_refused"
  | "connect_timeout"
  | "tls_failed"
  // The connection failed, or the response took too long.
  | "connection_failed"
  | "connection_lost"
  | "first_byte_timeout"
  | "idle_timeout"
  | "total_timeout"
  // The response was unusable.
  | "unreadable_answer"
  | "answer_cut_off"
  | "answer_too_long"
  | "reported_error"
  | `http_${number}`;

export type UpstreamErrorDetails = {
  status: number;
  type: string;
  param: string | null;
  code: string | null;
};

/** The status that the error names. Null if it names none. */
export type WithoutAnswer = { status: number | null };

type GatewayErrorDetails = Partial<Omit<GatewayError, keyof Error | "code">> & { cause?: unknown };

/** An error that prevents the start or ends a command. The message is for the operator. */
export class StartError extends Error {
  override readonly name: string = "StartError";
}

export function changedMeanwhile(what: string, currentRevision: number): GatewayError {
  const message = `Another user changed the ${what}. Reload the ${what}, then repeat your change.`;
  return new GatewayError("conflict", message, { param: "revision", currentRevision });
}

/** Converts any thrown value to an error that may be shown. */
export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof DatabaseUnavailableError) {
    const message = "The gateway cannot reach its database. Retry in a moment.";
    return new GatewayError("service_unavailable", message, { cause: error, retryAfterSeconds: 1 });
  }
  if (error instanceof QueryTooLongError) {
    const message = "The database query timed out. Select a shorter period or a single key.";
    return new GatewayError("service_unavailable", message, { cause: error, retryAfterSeconds: 5 });
  }
  const message = "The gateway failed with an internal error. Search its log for the request ID.";
  return new GatewayError("internal_error", message, { cause: error });
}

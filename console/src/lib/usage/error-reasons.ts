import type { Outputs } from "#lib/session/api.ts";

/** What an error's code leaves open, in the gateway's own terms. */
export type ErrorReason = NonNullable<Outputs["providers"]["health"][number]["lastErrorReason"]>;

/** `http_` and a status have no line of their own. */
type NamedReason = Exclude<ErrorReason, `http_${number}`>;
type LimitReason = keyof typeof limits;

/** Which limit or budget it was: goes on "the". Null for every other reason. */
export function limitWords(reason: ErrorReason | null): string | null {
  return reason !== null && isLimit(reason) ? limits[reason] : null;
}

/** How a provider failed, as a sentence that begins small. Null for every other reason. */
export function failureWords(reason: ErrorReason | null): string | null {
  if (reason === null || isLimit(reason)) return null;
  return isStatus(reason)
    ? `the provider answered with HTTP status ${reason.slice("http_".length)}`
    : failures[reason];
}

const limits = {
  requests_per_minute: "limit of requests per minute",
  tokens_per_minute: "limit of tokens per minute",
  concurrent_requests: "limit of requests at the same time",
  budget_per_day: "budget per day",
  budget_per_week: "budget per week",
  budget_per_month: "budget per month",
  budget_total: "total budget",
} satisfies Partial<Record<NamedReason, string>>;

const failures: Record<Exclude<NamedReason, LimitReason>, string> = {
  invalid_address_or_key: "the provider's address or its key has characters that HTTP does not allow",
  private_address: "the provider's address is private, and the gateway is not allowed to call it",
  host_not_found: "the provider's host name was not found",
  host_lookup_failed: "the provider's host name could not be looked up",
  host_unreachable: "the provider's host cannot be reached",
  connection_refused: "the connection was refused",
  connect_timeout: "it took too long to connect",
  tls_failed: "a TLS connection could not be made",
  connection_failed: "the connection failed",
  connection_lost: "the connection broke off",
  first_byte_timeout: "the provider did not answer in time",
  idle_timeout: "the provider fell silent in the middle of its answer",
  total_timeout: "the provider's answer took too long as a whole",
  unreadable_answer: "the provider's answer could not be understood",
  answer_cut_off: "the provider's answer ended before it was done",
  answer_too_long: "the provider's answer was longer than the gateway takes",
  reported_error: "the provider reported an error in the middle of its answer",
};

function isLimit(reason: ErrorReason): reason is LimitReason {
  return reason in limits;
}

function isStatus(reason: ErrorReason): reason is `http_${number}` {
  return reason.startsWith("http_");
}

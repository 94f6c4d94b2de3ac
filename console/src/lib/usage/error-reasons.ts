import type { Outputs } from "#lib/session/api.ts";

/** The cause of an error, more specific than the error code, such as `http_503`. */
export type ErrorReason = NonNullable<Outputs["providers"]["health"][number]["lastErrorReason"]>;

type NamedReason = Exclude<ErrorReason, `http_${number}`>;
type LimitReason = keyof typeof limits;

/** The limit or budget, as a phrase without an article. Null for every other reason. */
export function limitWords(reason: string | null): string | null {
  return reason !== null && isLimit(reason) ? limits[reason] : null;
}

/** The failure of a provider call as a phrase. Null for every other reason. */
export function failureWords(reason: string | null): string | null {
  if (reason === null || isLimit(reason)) return null;
  if (isStatus(reason)) return `provider returned HTTP status ${reason.slice("http_".length)}`;
  return Object.hasOwn(failures, reason) ? failures[reason as keyof typeof failures] : null;
}

export function capitalize(phrase: string): string {
  return phrase.charAt(0).toUpperCase() + phrase.slice(1);
}

const limits = {
  requests_per_minute: "request rate limit",
  tokens_per_minute: "token rate limit",
  concurrent_requests: "concurrent request limit",
  budget_per_day: "daily budget",
  budget_per_week: "weekly budget",
  budget_per_month: "monthly budget",
  budget_total: "lifetime budget",
} satisfies Partial<Record<NamedReason, string>>;

const failures: Record<Exclude<NamedReason, LimitReason>, string> = {
  invalid_address_or_key: "invalid characters in provider URL or key",
  private_address: "private provider address not allowed",
  host_not_found: "provider host not found",
  host_lookup_failed: "provider host lookup failed",
  host_unreachable: "provider host unreachable",
  connection_refused: "connection refused",
  connect_timeout: "connect timeout",
  tls_failed: "TLS connection failed",
  connection_failed: "connection failed",
  connection_lost: "connection lost",
  first_byte_timeout: "first-byte timeout",
  idle_timeout: "idle timeout",
  total_timeout: "total timeout",
  unreadable_answer: "malformed provider response",
  answer_cut_off: "provider response cut off",
  answer_too_long: "provider response too large",
  reported_error: "provider error mid-stream",
};

function isLimit(reason: string): reason is LimitReason {
  return Object.hasOwn(limits, reason);
}

function isStatus(reason: string): reason is `http_${number}` {
  return reason.startsWith("http_");
}

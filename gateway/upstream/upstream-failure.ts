import { type FailureReason, GatewayError } from "../errors.ts";

/** Explains a failed call to the client. The cause is for the log. */
export function toUpstreamFailure(cause: Error): GatewayError {
  if (cause instanceof GatewayError) return cause;
  const [reason, words] = kindOf(codeOf(cause));
  const advice = permanent.has(reason) ? "Ask an administrator to check the provider." : "Retry the request.";
  return new GatewayError(
    reason === "connect_timeout" ? "upstream_timeout" : "upstream_error",
    `The request to the provider failed: ${words}. ${advice}`,
    { cause, reason },
  );
}

const permanent: ReadonlySet<FailureReason> = new Set([
  "invalid_address_or_key",
  "host_not_found",
  "private_address",
  "tls_failed",
]);

/** @param what a clause that names the violation. It must not quote the response, which may contain secrets. */
export function brokenRule(what: string): Error {
  return withCode("EBADANSWER", `The provider's response violates HTTP: ${what}.`);
}

export function brokenOff(): Error {
  return withCode("EBROKENOFF", "The connection closed before the response was complete.");
}

export function withCode(code: string, message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code });
}

type Kind = readonly [reason: FailureReason, words: string];

const kinds: Record<string, Kind> = {
  EBADANSWER: ["unreadable_answer", "its response violates HTTP"],
  EBADREQUEST: ["invalid_address_or_key", "the provider's URL or key contains invalid characters"],
  EBROKENOFF: ["connection_lost", "the connection was closed"],
  EAI_AGAIN: ["host_lookup_failed", "its host name could not be resolved"],
  ECONNREFUSED: ["connection_refused", "the connection was refused"],
  ECONNRESET: ["connection_lost", "the connection was reset"],
  EHOSTUNREACH: ["host_unreachable", "its host is unreachable"],
  ENETUNREACH: ["host_unreachable", "its network is unreachable"],
  ENOTFOUND: ["host_not_found", "its host name was not found"],
  EPIPE: ["connection_lost", "the connection was closed"],
  EPRIVATEADDRESS: [
    "private_address",
    "its address is private, and the gateway's configuration does not allow it",
  ],
  ETIMEDOUT: ["connect_timeout", "the connection attempt timed out"],
};

function kindOf(code: string): Kind {
  const kind = kinds[code];
  if (kind) return kind;
  // OpenSSL has a separate code for each certificate problem.
  const isOfTls = /^EPROTO$|^ERR_(?:SSL|TLS)|CERT|SELF_SIGNED|SIGNATURE/.test(code);
  return isOfTls
    ? ["tls_failed", "the TLS connection failed"]
    : ["connection_failed", "the connection failed"];
}

function codeOf(error: Error): string {
  const { code } = error as { code?: unknown };
  if (typeof code === "string") return code;
  // If several addresses failed, the first error is reported.
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  return inner instanceof Error ? codeOf(inner) : "";
}

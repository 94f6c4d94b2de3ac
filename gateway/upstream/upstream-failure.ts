import { type FailureReason, GatewayError } from "../errors.ts";

/** Explains a failed call to the client. The cause is for the log. */
export function toUpstreamFailure(cause: Error): GatewayError {
  if (cause instanceof GatewayError) return cause;
  const [reason, words] = kindOf(codeOf(cause));
  return new GatewayError(
    reason === "connect_timeout" ? "upstream_timeout" : "upstream_error",
    `The model's provider could not be reached or broke off: ${words}.`,
    { cause, reason },
  );
}

/** @param what which rule of HTTP is broken; never quotes the answer */
export function brokenRule(what: string): Error {
  return withCode("EBADANSWER", `The upstream's answer breaks the rules of HTTP: ${what}.`);
}

export function brokenOff(): Error {
  return withCode("EBROKENOFF", "The connection ended before the answer did.");
}

export function withCode(code: string, message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code });
}

type Kind = readonly [reason: FailureReason, words: string];

const kinds: Record<string, Kind> = {
  EBADANSWER: ["unreadable_answer", "its answer breaks the rules of HTTP"],
  EBADREQUEST: ["invalid_address_or_key", "its address or its key has characters that HTTP does not allow"],
  EBROKENOFF: ["connection_lost", "the connection broke off"],
  EAI_AGAIN: ["host_lookup_failed", "its host name could not be looked up"],
  ECONNREFUSED: ["connection_refused", "the connection was refused"],
  ECONNRESET: ["connection_lost", "the connection was reset"],
  EHOSTUNREACH: ["host_unreachable", "its host cannot be reached"],
  ENETUNREACH: ["host_unreachable", "its network cannot be reached"],
  ENOTFOUND: ["host_not_found", "its host name was not found"],
  EPIPE: ["connection_lost", "the connection broke off"],
  EPRIVATEADDRESS: [
    "private_address",
    "its address is private, and such addresses are refused unless the gateway allows them",
  ],
  ETIMEDOUT: ["connect_timeout", "it took too long to connect"],
};

function kindOf(code: string): Kind {
  const kind = kinds[code];
  if (kind) return kind;
  // OpenSSL has one code for each certificate problem.
  const isOfTls = /^EPROTO$|^ERR_(?:SSL|TLS)|CERT|SELF_SIGNED|SIGNATURE/.test(code);
  return isOfTls
    ? ["tls_failed", "a TLS connection could not be made"]
    : ["connection_failed", "the connection failed"];
}

function codeOf(error: Error): string {
  const { code } = error as { code?: unknown };
  if (typeof code === "string") return code;
  // If several addresses failed, the first one is reported.
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  return inner instanceof Error ? codeOf(inner) : "";
}

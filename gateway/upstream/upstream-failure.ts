import { type FailureReason, GatewayError, toGatewayError } from "../errors.ts";
import { hostAndPortOf } from "./address-guard.ts";

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

/**
 * Explains a failed call to the administrator who configures the provider.
 * @param origin such as `http://localhost:11434`
 */
export function explainFailure(error: unknown, origin: string): string {
  const url = new URL(origin);
  const { hostname, host } = url;
  const code = codeOf(error);
  const hostAndPort = hostAndPortOf(url);
  const reasons: Record<string, string> = {
    ENOTFOUND: `The host ${hostname} was not found. Check the base URL.`,
    EAI_AGAIN: `The host ${hostname} could not be resolved: the DNS server does not respond. Check the gateway's network.`,
    ECONNREFUSED: `The connection to ${hostAndPort} was refused. Check the base URL, and that the server is running.`,
    EPRIVATEADDRESS: `${host} is a private address. ${howToAllow(hostAndPort)}.`,
    EHOSTUNREACH: `The host ${hostname} is unreachable from the gateway. Check the base URL and the gateway's network.`,
    ENETUNREACH: `The network of ${hostname} is unreachable from the gateway. Check the base URL and the gateway's network.`,
    ETIMEDOUT: `The connection to ${hostAndPort} timed out. Check the server and the firewalls.`,
    ECONNRESET: `${hostAndPort} closed the connection. Retry, or check the server's log.`,
    EBROKENOFF: `${hostAndPort} closed the connection. Retry, or check the server's log.`,
    EBADANSWER: `${hostAndPort} does not speak HTTP. Check the base URL.`,
    CERT_HAS_EXPIRED: `The TLS certificate of ${hostname} has expired. Renew the certificate on the server.`,
    ERR_TLS_CERT_ALTNAME_INVALID: `The TLS certificate of ${hostAndPort} is for another host. Check the base URL.`,
    EPROTO: `${hostAndPort} does not speak TLS. Check whether the URL should start with http://.`,
    ERR_SSL_WRONG_VERSION_NUMBER: `${hostAndPort} does not speak TLS. Check whether the URL should start with http://.`,
  };
  const reason = reasons[code];
  if (reason !== undefined) return reason;
  if (/CERT|SELF_SIGNED|SIGNATURE/.test(code)) {
    return `The TLS certificate of ${hostname} is not trusted (${code}). Check the certificate, or add its CA with NODE_EXTRA_CA_CERTS.`;
  }
  if (/^(?:ERR_SSL|ERR_TLS)/.test(code))
    return `The TLS connection to ${hostAndPort} failed (${code}). Check the server's TLS settings.`;
  return toGatewayError(error).message;
}

export function howToAllow(hostAndPort: string): string {
  return `To allow it, add ${hostAndPort} to UPSTREAM_PRIVATE_HOSTS, and restart the gateway`;
}

/** The first code in the chain of causes, without the codes of `GatewayError`s and an `AggregateError`'s later errors. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const { code } = error as { code?: unknown };
  if (typeof code === "string" && !(error instanceof GatewayError)) return code;
  return codeOf(error instanceof AggregateError ? error.errors[0] : error.cause);
}

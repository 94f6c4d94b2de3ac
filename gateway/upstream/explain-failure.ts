import { GatewayError, toGatewayError } from "../errors.ts";
import { hostAndPortOf } from "./address-guard.ts";

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

/**
 * Returns the first code in the chain of causes. Ignores the codes of a `GatewayError`, and all errors but the
 * first in an `AggregateError`.
 */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const { code } = error as { code?: unknown };
  if (typeof code === "string" && !(error instanceof GatewayError)) return code;
  return codeOf(error instanceof AggregateError ? error.errors[0] : error.cause);
}

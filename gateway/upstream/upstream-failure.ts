import { GatewayError } from "../errors.ts";

/** Says why a call failed, in words for whoever made the request; the cause is kept for the log. */
export function toUpstreamFailure(cause: Error): GatewayError {
  const code = codeOf(cause);
  const isTimeout = timeoutCodes.has(code);
  const reason = reasons[code] ?? "the connection failed";
  return new GatewayError(
    isTimeout ? "upstream_timeout" : "upstream_error",
    `The model's provider could not be reached or broke off: ${reason}.`,
    { cause },
  );
}

const timeoutCodes = new Set([
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
  "ETIMEDOUT",
]);

const reasons: Record<string, string> = {
  EAI_AGAIN: "its host name could not be looked up",
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was reset",
  EHOSTUNREACH: "its host cannot be reached",
  ENETUNREACH: "its network cannot be reached",
  ENOTFOUND: "its host name was not found",
  EPRIVATEADDRESS: "its address is private, and such addresses are refused unless the gateway allows them",
  ETIMEDOUT: "it took too long to connect",
  UND_ERR_CONNECT_TIMEOUT: "it took too long to connect",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "the answer was shorter or longer than announced",
  UND_ERR_SOCKET: "the connection broke off",
};

function codeOf(error: Error): string {
  const { code } = error as { code?: unknown };
  if (typeof code === "string") return code;
  // Several addresses were tried and all failed: the first failure says enough.
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  return inner instanceof Error ? codeOf(inner) : "";
}

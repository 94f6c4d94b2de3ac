import { GatewayError } from "../errors.ts";

/** Says why a call failed, in words for whoever made the request; the cause is kept for the log. */
export function toUpstreamFailure(cause: Error): GatewayError {
  if (cause instanceof GatewayError) return cause;
  const code = codeOf(cause);
  const reason = reasons[code] ?? "the connection failed";
  return new GatewayError(
    code === "ETIMEDOUT" ? "upstream_timeout" : "upstream_error",
    `The model's provider could not be reached or broke off: ${reason}.`,
    { cause },
  );
}

/** @param what how the answer breaks which rule of HTTP; nothing of the answer itself */
export function brokenRule(what: string): Error {
  return withCode("EBADANSWER", `The upstream's answer breaks the rules of HTTP: ${what}.`);
}

export function brokenOff(): Error {
  return withCode("EBROKENOFF", "The connection ended before the answer did.");
}

export function withCode(code: string, message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code });
}

const reasons: Record<string, string> = {
  EBADANSWER: "its answer breaks the rules of HTTP",
  EBADREQUEST: "its address or its key has characters that HTTP does not allow",
  EBROKENOFF: "the connection broke off",
  EAI_AGAIN: "its host name could not be looked up",
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was reset",
  EHOSTUNREACH: "its host cannot be reached",
  ENETUNREACH: "its network cannot be reached",
  ENOTFOUND: "its host name was not found",
  EPRIVATEADDRESS: "its address is private, and such addresses are refused unless the gateway allows them",
  ETIMEDOUT: "it took too long to connect",
};

function codeOf(error: Error): string {
  const { code } = error as { code?: unknown };
  if (typeof code === "string") return code;
  // Several addresses were tried and all failed: the first failure says enough.
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  return inner instanceof Error ? codeOf(inner) : "";
}

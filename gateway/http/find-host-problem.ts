import type { IncomingMessage } from "node:http";
import { GatewayError } from "../errors.ts";

export function findHostProblem({ headers, httpVersion, rawHeaders }: IncomingMessage): GatewayError | null {
  // RFC 9112, section 3.2, requires status 400 for a missing Host header. Node's own rejection would lack the
  // gateway's error format.
  if (headers.host === undefined && httpVersion === "1.1") {
    return new GatewayError("invalid_body", "The request has no Host header. Send a Host header.");
  }
  // Node uses the first Host header, but a proxy may have checked another.
  if (countHosts(rawHeaders) > 1) {
    return new GatewayError(
      "invalid_body",
      "The request has more than one Host header. Send one Host header.",
    );
  }
  return null;
}

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === "host".length && name.toLowerCase() === "host") count++;
  }
  return count;
}

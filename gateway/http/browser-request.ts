import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { GatewayError } from "../errors.ts";

/** `same-site` is not enough: browsers attach the refresh cookie to requests from sibling domains and ports. */
export function isSameOrigin({ "sec-fetch-site": site }: IncomingHttpHeaders): boolean {
  return site === undefined || site === "same-origin" || site === "none";
}

/** Browsers list `text/html` in `Accept`. API clients with a mistyped URL usually do not. */
export function wantsPage(accept: string | undefined): boolean {
  return accept !== undefined && accept.includes("text/html");
}

/** Throws `unsupported_encoding` unless the body is declared as JSON, which forms on other sites cannot do. */
export function expectJson({ "content-type": type }: IncomingHttpHeaders): void {
  if (/^application\/json *(;|$)/i.test(type ?? "")) return;
  const problem =
    type === undefined ? "has no Content-Type" : `has the unsupported Content-Type "${quotable(type)}"`;
  const message = `The request ${problem}. Send JSON with content-type: application/json.`;
  throw new GatewayError("unsupported_encoding", message);
}

/** The first 60 characters in printable ASCII, because terminals interpret control characters. */
export function quotable(value: string): string {
  return value.slice(0, 60).replaceAll(/[^ -~]/g, "?");
}

export function findHostProblem({ headers, httpVersion, rawHeaders }: IncomingMessage): GatewayError | null {
  // RFC 9112, section 3.2, requires status 400 for a missing Host header. Node's own rejection would lack the
  // gateway's error format.
  if (headers.host === undefined && httpVersion === "1.1") {
    return new GatewayError("invalid_body", "The request has no Host header. Send a Host header.");
  }
  // Node uses the first Host header, but a proxy may have checked another.
  if (!hasSeveral(rawHeaders, "host")) return null;
  return new GatewayError("invalid_body", "The request has more than one Host header. Send one Host header.");
}

/** @param header a name in lower case */
export function hasSeveral(rawHeaders: readonly string[], header: string): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === header.length && name.toLowerCase() === header) count++;
  }
  return count > 1;
}

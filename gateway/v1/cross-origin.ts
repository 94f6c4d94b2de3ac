import type { IncomingMessage, ServerResponse } from "node:http";
import { lacksVersion } from "./endpoints.ts";

/**
 * Sets the headers that let pages of other origins call `/v1`. Returns true after it has answered a preflight request.
 * The headers are set before the endpoint runs, so that errors and streams carry them, too.
 */
export function crossOrigin(origins: readonly string[]) {
  const allowed = new Set(origins);
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    const { origin, ...headers } = request.headers;
    if (!isPublicPath(request.url ?? "")) return false;
    response.setHeader("vary", "Origin");
    if (origin === undefined || !(allowed.has("*") || allowed.has(origin.toLowerCase()))) return false;
    response.setHeader("access-control-allow-origin", allowed.has("*") ? "*" : origin);
    response.setHeader("access-control-expose-headers", exposedHeaders);
    if (request.method !== "OPTIONS" || headers["access-control-request-method"] === undefined) return false;
    const requested = headers["access-control-request-headers"];
    response.setHeader(
      "vary",
      "Origin, Access-Control-Request-Headers, Access-Control-Request-Private-Network",
    );
    response.setHeader("access-control-allow-methods", "GET, POST, DELETE");
    // A wildcard would not cover `authorization`.
    if (requested !== undefined) response.setHeader("access-control-allow-headers", requested);
    if (headers["access-control-request-private-network"] === "true") {
      response.setHeader("access-control-allow-private-network", "true");
    }
    response.setHeader("access-control-max-age", String(preflightCacheSeconds));
    response.writeHead(204).end();
    return true;
  };
}

/** Includes the forgiven base URLs. Never the console's API, which has its own session. */
function isPublicPath(url: string): boolean {
  return /^\/v1(?=[/?]|$)/.test(url) || lacksVersion(url);
}

const exposedHeaders = [
  "x-request-id",
  "request-id",
  "retry-after",
  "x-should-retry",
  ...["limit", "remaining", "reset"].flatMap((each) =>
    ["requests", "tokens"].map((unit) => `x-ratelimit-${each}-${unit}`),
  ),
  "x-gateway-overhead-ms",
  "x-gateway-dropped",
].join(", ");

const preflightCacheSeconds = 600;

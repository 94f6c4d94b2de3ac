import type { IncomingHttpHeaders } from "node:http";

/**
 * Whether the request comes from the console's own pages or from no page. Browsers attach the refresh cookie
 * to requests from sibling domains and other ports, which are `same-site`.
 */
export function isSameOrigin({ "sec-fetch-site": site }: IncomingHttpHeaders): boolean {
  return site === undefined || site === "same-origin" || site === "none";
}

/**
 * Whether the request comes from a browser. Only browsers list `text/html` in `Accept`, unlike API clients
 * with a mistyped URL.
 */
export function wantsPage(accept: string | undefined): boolean {
  return accept !== undefined && accept.includes("text/html");
}

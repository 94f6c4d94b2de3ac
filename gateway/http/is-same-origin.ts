import type { IncomingHttpHeaders } from "node:http";

/**
 * Whether a request comes from the console's own pages, from the address bar, or from a program. A page of a sibling domain
 * or of another port is `same-site` to a browser, which attaches the refresh cookie to its requests.
 */
export function isSameOrigin({ "sec-fetch-site": site }: IncomingHttpHeaders): boolean {
  return site === undefined || site === "same-origin" || site === "none";
}

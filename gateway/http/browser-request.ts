import type { IncomingHttpHeaders } from "node:http";

/**
 * Whether the request comes from the console's own pages or from no page at all. Browsers attach the refresh cookie to
 * requests from sibling domains and other ports, which are `same-site`.
 */
export function isSameOrigin({ "sec-fetch-site": site }: IncomingHttpHeaders): boolean {
  return site === undefined || site === "same-origin" || site === "none";
}

/** Whether a browser navigates: only then is HTML accepted by name. Programs with a mistyped URL do not do that. */
export function wantsPage(accept: string | undefined): boolean {
  return accept !== undefined && accept.includes("text/html");
}

import type { IncomingHttpHeaders } from "node:http";

/**
 * Whether a request comes from the console's own pages, from the address bar, or from a program. A page of a sibling domain
 * or of another port is `same-site` to a browser, which attaches the refresh cookie to its requests.
 */
export function isSameOrigin({ "sec-fetch-site": site }: IncomingHttpHeaders): boolean {
  return site === undefined || site === "same-origin" || site === "none";
}

/** Whether a browser is going somewhere: only then is HTML asked for by name. Programs that mistype a URL do not. */
export function wantsPage(accept: string | undefined): boolean {
  return accept !== undefined && accept.includes("text/html");
}

import type { Endpoint } from "./provider.ts";

/**
 * An endpoint below the base URL, whose path and query are kept.
 * @param path begins with a slash and may have a query
 * @param credentialHeaders names and values in turn
 */
export function endpointAt(
  { baseUrl, secret }: { baseUrl: string; secret: string | null },
  path: string,
  credentialHeaders: string[],
): Endpoint {
  const { origin, pathname, search } = new URL(baseUrl);
  const [ownPath = "", ownQuery] = path.split("?");
  const query = [search.slice(1), ownQuery].filter(Boolean).join("&");
  return {
    origin,
    secret,
    path: `${pathname.replace(/\/+$/, "")}${ownPath}${query === "" ? "" : `?${query}`}`,
    headers: [
      ...credentialHeaders,
      "content-type",
      "application/json",
      "accept",
      "application/json, text/event-stream",
      // Usage is read from the relayed bytes, so they must not be compressed.
      "accept-encoding",
      "identity",
      "user-agent",
      "model-gateway",
    ],
  };
}

import type { Endpoint } from "./provider.ts";
import { isObject } from "../wire/json.ts";

/**
 * Builds an endpoint below the base URL and keeps that URL's path and query.
 * @param path begins with a slash and may have a query
 * @param credentialHeaders alternating names and values
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
      // The gateway reads usage from the relayed bytes, so the upstream must not compress them.
      "accept-encoding",
      "identity",
      "user-agent",
      "model-gateway",
    ],
  };
}

/** Returns the names of the models in `list[member]`. Null if the member is not an array. */
export function readModelNames(
  list: unknown,
  member: string,
  nameKey: string,
  isUsable: (model: Record<string, unknown>) => boolean = () => true,
): string[] | null {
  const models = isObject(list) ? list[member] : null;
  if (!Array.isArray(models)) return null;
  return models.flatMap((model: unknown) => {
    const name = isObject(model) && isUsable(model) ? model[nameKey] : null;
    return typeof name === "string" ? name : [];
  });
}

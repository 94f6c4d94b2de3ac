import type { IncomingMessage } from "node:http";
import type { Request } from "express";
import { ObservedRequest } from "../usage/observed-request.ts";

/** What observers are told of a request; null for one that is none to `/v1`. Nothing of its path but the route is. */
export function observeRequest(
  request: IncomingMessage & Pick<Request, "route">,
  id: string,
): ObservedRequest | null {
  const { method = "", url = "", headers } = request;
  if (!/^\/v1(?=[/?]|$)/.test(url)) return null;
  const { traceparent } = headers;
  return new ObservedRequest({
    id,
    method,
    route: routeOf(request),
    traceparent: typeof traceparent === "string" ? traceparent : null,
  });
}

function routeOf({ route }: Pick<Request, "route">): string | null {
  const { path } = (route ?? {}) as { path?: unknown };
  return typeof path === "string" ? path.replace(/\*(\w+)$/, "{$1}") : null;
}

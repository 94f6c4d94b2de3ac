import type { IncomingMessage, ServerResponse } from "node:http";
import Router from "router";
import { chat } from "../dialects/chat/chat.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { messages } from "../dialects/messages/messages.ts";
import { GatewayError } from "../errors.ts";
import {
  endpoint,
  type EndpointOptions,
  type RequestHandler,
  type ModelEndpointOptions,
} from "./endpoint.ts";
import { endpoints, lacksVersion } from "./endpoints.ts";
import { findHostProblem, quotable, wantsPage } from "../http/browser-request.ts";

/** The public API. Unmatched paths fall through to the next handler. */
export function createV1Router(options: ModelEndpointOptions): Router.Router {
  const router = Router({ caseSensitive: true });
  router.use(forgiveBaseUrl);
  for (const [path, group] of Map.groupBy(endpoints, (each) => each.path)) {
    const route = router.route(path);
    for (const { method, createHandler } of group) route[method](createHandler(options));
    const allowed = group.map(({ method }) => method.toUpperCase()).join(", ");
    route.all(methodNotAllowed(options, allowed, group[0]?.dialect));
  }
  // At each start, Claude Code requests this path to check the server.
  router.all("/api/hello", (_request, response) => void response.writeHead(200).end());
  router.use(errorHandler(options));
  return router;
}

/** Checks the Host header, and corrects a doubled or missing `/v1`, a common error in clients' base URLs. */
const forgiveBaseUrl: Router.RequestHandler = (request, _response, next) => {
  const { url = "/" } = request;
  const problem = findHostProblem(request);
  if (problem !== null) return next(problem);
  if (url.startsWith("/v1/")) {
    if (url.startsWith("/v1/v1/")) request.url = url.slice("/v1".length);
    // The console has pages at `/models` and below.
  } else if (lacksVersion(url) && !(request.method === "GET" && wantsPage(request.headers.accept)))
    request.url = `/v1${url}`;
  next();
};

export function unknownUrl(options: EndpointOptions): RequestHandler {
  const dialectOf = ({ url, headers }: IncomingMessage): Dialect =>
    url?.startsWith("/v1/messages/") || headers["anthropic-version"] !== undefined ? messages : chat;
  return endpoint(options, dialectOf, ({ request }) => {
    // Clients print messages in terminals, so the message quotes only plain characters of the path.
    const path = (request.url ?? "")
      .replace(/\?.*/s, "")
      .replaceAll(/[^\w./~%-]/g, "?")
      .slice(0, 200);
    throw new GatewayError(
      "unknown_url",
      `${request.method} ${path} does not exist. Use one of the /v1 endpoints listed in /openapi.json.`,
    );
  });
}

/** Handles exceptions outside the endpoints, such as Express's error for a broken `%` sequence in the URL. */
export function errorHandler(options: EndpointOptions) {
  // Routers recognize an error handler by its four parameters.
  return (thrown: unknown, request: IncomingMessage, response: ServerResponse, _next?: () => void): void => {
    const isClients =
      thrown instanceof URIError || (thrown instanceof Error && "status" in thrown && thrown.status === 400);
    const error = isClients
      ? new GatewayError(
          "invalid_value",
          "The request URL has an invalid encoding. Write the character % as %25.",
        )
      : thrown;
    void endpoint(options, chat, () => {
      throw error;
    })(request, response);
  };
}

function methodNotAllowed(
  options: EndpointOptions,
  allowed: string,
  dialect: Dialect = chat,
): RequestHandler {
  return endpoint(options, dialect, ({ request, response }) => {
    // Codex falls back to HTTP at once after status 426. After other statuses, Codex retries the WebSocket
    // for 10 to 20 seconds.
    if (request.headers.upgrade !== undefined) {
      response.setHeader("upgrade", "HTTP/1.1");
      throw new GatewayError(
        "upgrade_refused",
        `The protocol "${quotable(request.headers.upgrade)}" is not supported for this URL. Use ${allowed} without the Upgrade header.`,
      );
    }
    response.setHeader("allow", allowed);
    throw new GatewayError(
      "method_not_allowed",
      `The method ${request.method} is not allowed for this URL. Use ${allowed}.`,
    );
  });
}

import type { IncomingMessage, ServerResponse } from "node:http";
import Router from "router";
import { conversation } from "../completions/conversation.ts";
import { messageTokens, responseTokens } from "../completions/count-tokens.ts";
import { embeddings } from "../completions/embeddings.ts";
import { chat } from "../dialects/chat/chat.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { messages } from "../dialects/messages/messages.ts";
import { compaction } from "../dialects/responses/compaction.ts";
import { responses } from "../dialects/responses/responses.ts";
import { GatewayError } from "../errors.ts";
import { countTokensEndpoint } from "./count-tokens.ts";
import {
  endpoint,
  type EndpointOptions,
  type RequestHandler,
  type ModelEndpointOptions,
  modelEndpoint,
} from "./endpoint.ts";
import { keptResponseEndpoints } from "./kept-responses.ts";
import { modelDetail, modelList } from "./models.ts";
import { findHostProblem, quotable, wantsPage } from "../http/browser-request.ts";

/** The public API. Unmatched paths fall through to the next handler. */
export function createV1Router(options: ModelEndpointOptions): Router.Router {
  const router = Router({ caseSensitive: true });
  router.use(forgiveBaseUrl);
  const post = (path: string, handler: RequestHandler, dialect: Dialect = chat) =>
    router
      .route(path)
      .post(handler)
      .all(methodNotAllowed(options, "POST", dialect));
  post("/v1/chat/completions", modelEndpoint(options, conversation(chat), chat));
  post("/v1/embeddings", modelEndpoint(options, embeddings, chat));
  post("/v1/messages", modelEndpoint(options, conversation(messages), messages), messages);
  post("/v1/messages/count_tokens", countTokensEndpoint(options, messageTokens), messages);
  post("/v1/responses", modelEndpoint(options, conversation(responses), responses), responses);
  post("/v1/responses/input_tokens", countTokensEndpoint(options, responseTokens), responses);
  post("/v1/responses/compact", modelEndpoint(options, conversation(compaction), responses), responses);
  router.route("/v1/models").get(modelList(options)).all(methodNotAllowed(options, "GET"));
  router.route("/v1/models/*slug").get(modelDetail(options)).all(methodNotAllowed(options, "GET"));
  // These routes are last, because they match any ID below `/v1/responses`.
  const kept = keptResponseEndpoints(options);
  router
    .route("/v1/responses/:id")
    .get(kept.get)
    .delete(kept.delete)
    .all(methodNotAllowed(options, "GET, DELETE", responses));
  router
    .route("/v1/responses/:id/input_items")
    .get(kept.inputItems)
    .all(methodNotAllowed(options, "GET", responses));
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
  if (url.startsWith("/v1/v1/")) request.url = url.slice("/v1".length);
  else if (
    /^\/(chat\/completions|embeddings|models|messages|responses)(?=[/?]|$)/.test(url) &&
    // The console has pages at `/models` and below.
    !(request.method === "GET" && wantsPage(request.headers.accept))
  )
    request.url = `/v1${url}`;
  next();
};

export function unknownUrl(options: EndpointOptions): RequestHandler {
  return endpoint(
    options,
    ({ request }) => {
      // Clients print messages in terminals, so the message quotes only plain characters of the path.
      const path = (request.url ?? "")
        .replace(/\?.*/s, "")
        .replaceAll(/[^\w./~%-]/g, "?")
        .slice(0, 200);
      throw new GatewayError(
        "unknown_url",
        `${request.method} ${path} does not exist. Use one of the /v1 endpoints listed in /openapi.json.`,
      );
    },
    ({ url, headers }) =>
      url?.startsWith("/v1/messages/") || headers["anthropic-version"] !== undefined ? messages : chat,
  );
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
    void endpoint(options, () => {
      throw error;
    })(request, response);
  };
}

function methodNotAllowed(
  options: EndpointOptions,
  allowed: string,
  dialect: Dialect = chat,
): RequestHandler {
  return endpoint(
    options,
    ({ request, response }) => {
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
    },
    dialect,
  );
}

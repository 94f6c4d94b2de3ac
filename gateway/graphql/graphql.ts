import type { IncomingMessage, ServerResponse } from "node:http";
import { errorStatuses, GatewayError, toGatewayError } from "../errors.ts";
import { consoleOf } from "../http/body-budget.ts";
import { ClientGoneError, readPlainBody } from "../http/read-body.ts";
import { createId } from "../ids.ts";
import { expectJson, isSameOrigin } from "../http/browser-request.ts";
import { nextTurn } from "../next-turn.ts";
import type { Services } from "../services.ts";
import type { GraphqlServer } from "./server.ts";

/** The first allowed query imports GraphQL's libraries, which load slowly. */
export function graphql(services: Services, path: string) {
  let starting: Promise<GraphqlServer> | undefined;
  const start = async (): Promise<GraphqlServer> => {
    try {
      const { createGraphqlServer } = await import("./server.ts");
      const { limits, runtime } = services;
      return createGraphqlServer({
        path,
        recordsPerPageMax: limits.usageRecordsPerPageMax,
        log: runtime.log,
      });
    } catch (error) {
      // The next query tries again.
      starting = undefined;
      throw error;
    }
  };

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const requestId = createId("req", services.runtime);
    response.setHeader("x-request-id", requestId);
    response.setHeader("cache-control", "no-store");
    try {
      const { person, query } = await authenticate(services, { request, response, path });
      const server = await (starting ??= start());
      // Checking a document takes milliseconds, so that many at once take turns.
      await nextTurn();
      const answer = await server.fetch(query, { services, person, requestId });
      response.writeHead(answer.status, [...answer.headers].flat());
      for await (const part of answer.body ?? []) response.write(part);
      response.end();
    } catch (thrown) {
      if (thrown instanceof ClientGoneError) return;
      if (response.headersSent) return void response.destroy();
      refuse(response, requestId, toGatewayError(thrown), services);
    }
  };
}

type Call = { request: IncomingMessage; response: ServerResponse; path: string };

async function authenticate({ bodyBudget, sessions }: Services, { request, response, path }: Call) {
  const { method = "GET", headers } = request;
  if (!isSameOrigin(headers)) {
    throw new GatewayError(
      "forbidden",
      "The console API rejects requests from other sites. Use the console at its own URL.",
    );
  }
  if (method !== "GET" && method !== "POST") {
    throw new GatewayError(
      "method_not_allowed",
      `The method ${method} is not allowed for ${path}. Use POST.`,
    );
  }
  const accessToken = /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];
  if (accessToken === undefined)
    throw new GatewayError("unauthenticated", "You are not signed in. Sign in, and send the access token.");
  const person = await sessions.authenticate(accessToken);
  const search = /\?.*/s.exec(request.url ?? "")?.[0] ?? "";
  if (search.length > documentBytesMax) {
    const message = `The query is larger than ${documentBytesMax} bytes. Send a shorter query.`;
    throw new GatewayError("request_too_large", message);
  }
  if (method === "POST") expectJson(headers);
  const held = bodyBudget.hold(consoleOf(person.id));
  response.on("close", () => held.release());
  const body = method === "POST" ? (await readPlainBody(request, documentBytesMax, held)).toString() : null;
  // The response is JSON regardless of the client's `Accept` header.
  const form = "application/graphql-response+json";
  const accept = headers.accept?.includes(form) ? form : "application/json";
  const plain = { accept, "content-type": "application/json" };
  return { person, query: new Request(`http://gateway${path}${search}`, { method, headers: plain, body }) };
}

const documentBytesMax = 64 * 1024;

function refuse(
  response: ServerResponse,
  requestId: string,
  error: GatewayError,
  { runtime }: Services,
): void {
  if (error.code === "internal_error") {
    runtime.log.error({ requestId, error }, "a query failed with an internal error");
  }
  const { message, code, param, retryAfterSeconds } = error;
  if (retryAfterSeconds !== null) response.setHeader("retry-after", retryAfterSeconds);
  if (code === "method_not_allowed") response.setHeader("allow", "GET, POST");
  const body = JSON.stringify({ errors: [{ message, extensions: { code, param, requestId } }] });
  response.writeHead(errorStatuses[code], { "content-type": "application/json; charset=utf-8" }).end(body);
}

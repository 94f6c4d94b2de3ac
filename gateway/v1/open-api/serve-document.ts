import type { IncomingMessage, ServerResponse } from "node:http";
import { createOpenApiDocument } from "./document.ts";

/** `/openapi.json`, for anybody: it says what the gateway can do, and nothing of what is in it. */
export function serveOpenApiDocument() {
  let document: string | undefined;
  return (_request: IncomingMessage, response: ServerResponse): void => {
    document ??= JSON.stringify(createOpenApiDocument());
    const head = { "content-type": "application/json; charset=utf-8", "cache-control": "no-cache" };
    response.writeHead(200, head).end(document);
  };
}

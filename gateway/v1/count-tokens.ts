import type { RequestHandler } from "express";
import { countMessageTokens } from "../completions/count-message-tokens.ts";
import { ClientGoneError, readBody } from "../http/read-body.ts";
import { messages } from "../dialects/messages/messages.ts";
import { keyOf, plainEndpoint } from "./endpoint.ts";
import type { ModelEndpointOptions } from "./model-endpoint.ts";

/** `POST /v1/messages/count_tokens`. As at Anthropic, it is not limited and not recorded. */
export function countTokensEndpoint(options: ModelEndpointOptions): RequestHandler {
  const handle: Parameters<typeof plainEndpoint>[1] = async ({ request, response, reply }) => {
    const key = await keyOf(options, request);
    const leaving = new AbortController();
    const held = options.bodyBudget.hold(key.id);
    response.on("close", () => {
      held.release();
      leaving.abort();
    });
    try {
      const body = await readBody(request, options.limits.requestBodyBytesMax, held);
      const counted = await countMessageTokens(options, key, body, request.headers, leaving.signal);
      if (!response.destroyed) reply.sendJson(counted, []);
    } catch (error) {
      if (!(error instanceof ClientGoneError)) throw error;
    }
  };
  return plainEndpoint(options, handle, messages);
}

import { limitedKeyOf, type ModelEndpointOptions, plainEndpoint, type RequestHandler } from "./endpoint.ts";
import { responses } from "../dialects/responses/responses.ts";
import { unsupported } from "../wire/parameter-errors.ts";
import { type KeptResponses, responseNotFound } from "../kept-responses/kept-responses.ts";

/**
 * Requests for kept responses call no model and have no usage record.
 * https://platform.openai.com/docs/api-reference/responses/get
 */
export function keptResponseEndpoints(options: ModelEndpointOptions) {
  const { keptResponses } = options;
  const serve = (read: (kept: KeptResponses, call: Call) => Promise<Buffer | object>): RequestHandler =>
    plainEndpoint(options, responses, async ({ request, response, reply }) => {
      const { id: keyId } = await limitedKeyOf(options, request);
      const id = String(request.params?.["id"]);
      if (keptResponses === null) throw responseNotFound(id);
      const query = new URLSearchParams(request.url?.split("?")[1]);
      const answer = await read(keptResponses, { keyId, id, query });
      if (response.destroyed) return;
      reply.send(Buffer.isBuffer(answer) ? answer : Buffer.from(JSON.stringify(answer)), []);
    });
  return {
    get: serve(async (kept, { keyId, id, query }) => {
      if (query.get("stream") === "true")
        throw unsupported("stream", "the gateway returns kept responses as JSON. Remove the parameter.");
      return kept.get(keyId, id);
    }),
    delete: serve(async (kept, { keyId, id }) => {
      await kept.delete(keyId, id);
      return { id, object: "response", deleted: true };
    }),
    inputItems: serve((kept, { keyId, id, query }) => kept.inputItems(keyId, id, query)),
  };
}

type Call = { keyId: string; id: string; query: URLSearchParams };

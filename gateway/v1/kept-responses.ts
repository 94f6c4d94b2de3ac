import type { RequestHandler } from "express";
import type { KeptResponse, KeptResponses } from "../completions/kept-responses.ts";
import { listInputItems } from "../dialects/responses/list-input-items.ts";
import { responses } from "../dialects/responses/responses.ts";
import { GatewayError } from "../errors.ts";
import type { KnownKey } from "../keys/key-cache.ts";
import {
  type EndpointContext,
  type EndpointOptions,
  keyOf,
  type KeyOptions,
  plainEndpoint,
} from "./endpoint.ts";

type Options = KeyOptions & EndpointOptions & { keptResponses: KeptResponses | null };

/** `GET /v1/responses/{id}` */
export function keptResponse(options: Options): RequestHandler {
  return onKept(options, ({ kept }) => kept.response);
}

/** `DELETE /v1/responses/{id}` */
export function deleteKeptResponse(options: Options): RequestHandler {
  return onKept(options, ({ id, key }) => {
    options.keptResponses?.delete(key.id, id);
    return toJson({ id, object: "response", deleted: true });
  });
}

/** `GET /v1/responses/{id}/input_items`, a page of the items that the response follows. */
export function keptInputItems(options: Options): RequestHandler {
  return onKept(options, ({ id, key, request }) => {
    const turns = options.keptResponses?.itemsOf(key.id).turnsUntil(id) ?? null;
    if (turns === null) throw notFound(id);
    const query = new URLSearchParams((request.url ?? "").split("?")[1] ?? "");
    return toJson(listInputItems(id, turns, query));
  });
}

type Lookup = { id: string; key: KnownKey; kept: KeptResponse; request: EndpointContext["request"] };

function onKept(options: Options, read: (lookup: Lookup) => Buffer): RequestHandler {
  const handle = async ({ request, reply }: EndpointContext) => {
    const key = await keyOf(options, request);
    const id = String(request.params["id"]);
    const kept = options.keptResponses?.find(key.id, id) ?? null;
    if (kept === null) throw notFound(id);
    reply.sendJson(read({ id, key, kept, request }), []);
  };
  return plainEndpoint(options, handle, responses);
}

/** The same for another key's response. */
function notFound(id: string): GatewayError {
  const name = id.replaceAll(/[^\w-]/g, "?").slice(0, 64);
  return new GatewayError(
    "not_found",
    `Response with id '${name}' not found. The gateway keeps only translated responses, for a limited time.`,
  );
}

function toJson(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}

import type { RequestHandler } from "express";
import type { AuthenticateKeyOptions } from "../auth/authenticate-key.ts";
import type { Catalogue, CatalogueModel } from "../models/catalogue.ts";
import { listModels, resolveRoute } from "../models/resolve-route.ts";
import { parseSlug } from "../models/slug.ts";
import { endpoint, type EndpointOptions, keyOf } from "./endpoint.ts";

export type ModelsOptions = AuthenticateKeyOptions & EndpointOptions & { catalogue: Catalogue };

/** `GET /v1/models`: the models the key may use. */
export function modelList(options: ModelsOptions): RequestHandler {
  return endpoint(options, async ({ request, reply }) => {
    const key = await keyOf(options, request);
    const data = listModels(options.catalogue, key).map(toModel);
    reply.sendJson(Buffer.from(JSON.stringify({ object: "list", data })), []);
  });
}

/** `GET /v1/models/{slug}`, with the slug's slash plain or encoded. */
export function modelDetail(options: ModelsOptions): RequestHandler {
  return endpoint(options, async ({ request, reply }) => {
    const key = await keyOf(options, request);
    const { slug } = request.params;
    const model = resolveRoute(options.catalogue, key, Array.isArray(slug) ? slug.join("/") : String(slug));
    reply.sendJson(Buffer.from(JSON.stringify(toModel(model))), []);
  });
}

/** https://platform.openai.com/docs/api-reference/models/object */
function toModel(model: CatalogueModel) {
  return {
    id: model.slug,
    object: "model",
    created: Math.floor(model.createdAt.getTime() / 1000),
    owned_by: parseSlug(model.slug)?.providerName ?? "",
  };
}

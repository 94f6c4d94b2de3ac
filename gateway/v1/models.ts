import { limitedKeyOf, type ModelEndpointOptions, plainEndpoint, type RequestHandler } from "./endpoint.ts";
import type { IncomingMessage } from "node:http";
import { chat } from "../dialects/chat/chat.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { messages, formatModel, formatModelList } from "../dialects/messages/messages.ts";
import { type CatalogedModel, formatModelCatalog } from "../dialects/responses/model-catalog.ts";
import { type CatalogueModel, listModels, resolveRoute } from "../routing/catalogue.ts";
import { parseSlug } from "../routing/slug.ts";

/**
 * `GET /v1/models`. The header `anthropic-version` selects Anthropic's paginated format. Otherwise, the query
 * parameter `client_version` selects Codex's catalog.
 */
export function modelList(options: ModelEndpointOptions): RequestHandler {
  return plainEndpoint(options, dialectOf, async ({ request, reply }) => {
    const models = listModels(options.catalogue, await limitedKeyOf(options, request));
    const query = queryOf(request);
    const list =
      dialectOf(request) === messages
        ? formatModelList(models, query)
        : query["client_version"] === undefined
          ? { object: "list", data: models.map(toModel) }
          : formatModelCatalog(models.map(toCataloged));
    reply.send(Buffer.from(JSON.stringify(list)), []);
  });
}

/** `GET /v1/models/{slug}`, with the slug's slash plain or encoded. */
export function modelDetail(options: ModelEndpointOptions): RequestHandler {
  return plainEndpoint(options, dialectOf, async ({ request, reply }) => {
    const key = await limitedKeyOf(options, request);
    const slug = request.params?.["slug"];
    const model = resolveRoute(options.catalogue, key, Array.isArray(slug) ? slug.join("/") : String(slug));
    const detail = dialectOf(request) === messages ? formatModel(model) : toModel(model);
    reply.send(Buffer.from(JSON.stringify(detail)), []);
  });
}

function dialectOf({ headers }: IncomingMessage): Dialect {
  return headers["anthropic-version"] === undefined ? chat : messages;
}

function queryOf({ url = "" }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(url.split("?")[1] ?? ""));
}

function toCataloged({ slug, contextWindow, candidates }: CatalogueModel): CatalogedModel {
  return { slug, contextWindow, canReason: candidates[0]?.[0]?.upstreamModel.canReason };
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

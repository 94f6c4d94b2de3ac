import {
  readEmbeddingsRequest,
  type EmbeddingsRequest,
} from "../dialects/embeddings/read-embeddings-request.ts";
import { GatewayError } from "../errors.ts";
import type { Way } from "../models/way.ts";
import type { Attempt } from "../upstream/attempts.ts";
import { applyEdits } from "../wire/apply-edits.ts";
import { AnswerRelay } from "./answer-relay.ts";
import { callModel } from "./call-model.ts";
import type { CompleteOptions } from "./complete-options.ts";
import type { Exchange } from "./exchange.ts";
import { nativeAnswer } from "./native-answer.ts";
import { readRequest } from "./read-request.ts";
import { translatedEmbeddings } from "./translated-answer.ts";

/** The way of every embeddings request: as `complete`, without streams. */
export function embed(options: CompleteOptions, exchange: Exchange, bytes: Buffer): void {
  const request = readRequest(options, exchange, bytes, readEmbeddingsRequest);
  const slug = request.value.body.model;
  callModel(options, exchange, slug, (way) => prepareEmbeddings(options, exchange, request.value, slug, way));
  request.letGo();
}

function prepareEmbeddings(
  { upstreams, limits }: CompleteOptions,
  exchange: Exchange,
  request: EmbeddingsRequest,
  slug: string,
  { target, upstreamModel, timeouts }: Way,
): Attempt {
  if (target.reach === "none") throw target.reason;
  const api = target.reach === "network" ? target.embeddings : null;
  if (api === null) {
    throw new GatewayError("invalid_value", `The model \`${slug}\` makes no embeddings.`, { param: "model" });
  }
  const isNative = api.form === "native";
  const bytes = isNative
    ? spliceModel(request, upstreamModel.name)
    : Buffer.from(JSON.stringify(api.buildRequest(request.body, upstreamModel)));
  const reading = isNative
    ? nativeAnswer(slug, "data")
    : translatedEmbeddings(api.readAnswer, { slug, ...asked(request.body) });
  return {
    events: new AnswerRelay(exchange, reading, limits.upstreamAnswerBytesMax),
    begin: (events) => upstreams.call(api.endpoint, bytes, timeouts, events),
  };
}

/** Translated upstreams take texts only, so that a list is one of inputs, and no text's tokens. */
function asked({ input, encoding_format: encoding }: EmbeddingsRequest["body"]) {
  return { inputCount: Array.isArray(input) ? input.length : 1, asBase64: encoding === "base64" };
}

/** The client's own bytes with another model, or what was checked where they say something twice. */
function spliceModel({ body, bytes, model }: EmbeddingsRequest, upstreamModel: string): Buffer {
  if (model === null) return Buffer.from(JSON.stringify({ ...body, model: upstreamModel }));
  return applyEdits(bytes, [{ ...model, text: JSON.stringify(upstreamModel) }]);
}

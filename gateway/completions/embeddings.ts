import {
  type EmbeddingsRequest,
  readEmbeddingsRequest,
} from "../dialects/embeddings/read-embeddings-request.ts";
import { GatewayError } from "../errors.ts";
import type { EmbeddingsTranslation } from "../providers/provider.ts";
import { estimateInputTokens } from "../usage/counting/estimate-input-tokens.ts";
import { badAnswer } from "../wire/bad-answer.ts";
import { applyEdits, spliceModel } from "../wire/bytes.ts";
import { parseAnswer } from "../wire/parse-upstream.ts";
import { scanAnswer } from "../wire/scan-answer.ts";
import { embeddingsUsage, readChatUsage } from "../wire/token-usage.ts";
import { AnswerRelay, type AnswerReading } from "./answer-relay.ts";
import type { Operation } from "./operation.ts";

export const embeddings: Operation<EmbeddingsRequest> = {
  endpointName: "embeddings",
  telemetryName: "embeddings",
  read: readEmbeddingsRequest,
  estimateInputTokens: ({ body }) => estimateInputTokens(body),
  prepare({ context, exchange, request }, { apis, upstreamModel, timeouts }) {
    if (apis.embeddings === undefined) throw notSupported(request.model);
    const { endpoint, translation } = apis.embeddings;
    const parts = translation
      ? [Buffer.from(JSON.stringify(translation.buildRequest(request.body, upstreamModel)))]
      : spliceModel(request, upstreamModel.name);
    const read = translation ? translatedReading(translation, request) : nativeReading(request.model);
    return {
      events: new AnswerRelay(exchange, read, context.limits.upstreamAnswerBytesMax),
      begin: (events) => context.upstreams.call(endpoint, parts, timeouts, events),
    };
  },
};

function notSupported(slug: string): GatewayError {
  const message = `The model \`${slug}\` does not support embeddings. Choose an embedding model.`;
  return new GatewayError("invalid_value", message, { param: "model" });
}

function nativeReading(slug: string): AnswerReading {
  return (bytes) => {
    const answer = scanAnswer(bytes, { start: 0, end: bytes.length }, { slug, listName: "data" });
    if (!answer?.list) throw badAnswer("not in OpenAI's format");
    const { inputTokens = null, details } = readChatUsage(answer.usage, answer.serviceTier) ?? {};
    return {
      bytes: applyEdits(bytes, answer.edits),
      usage: { ...embeddingsUsage(inputTokens), ...(details && { details }) },
    };
  };
}

function translatedReading(
  { readAnswer }: EmbeddingsTranslation,
  { body, model }: EmbeddingsRequest,
): AnswerReading {
  const { input, encoding_format: encoding } = body;
  // Translated upstreams accept only texts, so an array is a list of inputs.
  const inputCount = Array.isArray(input) ? input.length : 1;
  return (bytes) => {
    const { embeddings: vectors, inputTokens } = readAnswer(parseAnswer(bytes));
    // Without one embedding for each text, clients would pair texts with the wrong embeddings.
    if (vectors.length !== inputCount) throw badAnswer("missing an embedding for some inputs");
    // Clients require a count.
    const shownTokens = inputTokens ?? estimateInputTokens(body);
    const list = {
      object: "list",
      data: vectors.map((numbers, index) => ({
        object: "embedding",
        index,
        // OpenAI's SDKs request base64 by default: 32-bit floats, little-endian.
        embedding:
          encoding === "base64" ? Buffer.from(new Float32Array(numbers).buffer).toString("base64") : numbers,
      })),
      model,
      usage: { prompt_tokens: shownTokens, total_tokens: shownTokens },
    };
    return { bytes: Buffer.from(JSON.stringify(list)), usage: embeddingsUsage(inputTokens) };
  };
}

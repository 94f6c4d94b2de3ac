import { embeddingsUsage, readChatUsage } from "../wire/token-usage.ts";
import {
  type EmbeddingsRequest,
  readEmbeddingsRequest,
} from "../dialects/embeddings/read-embeddings-request.ts";
import { GatewayError } from "../errors.ts";
import { applyEdits, spliceModel } from "../wire/bytes.ts";
import { scanAnswer } from "../wire/scan-answer.ts";
import { type AnswerReading, AnswerRelay } from "./answer-relay.ts";
import type { Operation } from "./operation.ts";
import { estimateInputTokens } from "../usage/counting/estimate-input-tokens.ts";
import { badAnswer } from "../wire/bad-answer.ts";
import { translatedEmbeddings } from "./translated-answer.ts";

export const embeddings: Operation<EmbeddingsRequest> = {
  endpointName: "embeddings",
  read: readEmbeddingsRequest,
  prepare({ context, exchange, request }, { apis, upstreamModel, timeouts }) {
    const { model: slug } = request;
    const api = apis.embeddings;
    if (api === undefined) {
      const message = `The model \`${slug}\` does not support embeddings. Choose an embedding model.`;
      throw new GatewayError("invalid_value", message, { param: "model" });
    }
    const { translation } = api;
    const parts = translation
      ? [Buffer.from(JSON.stringify(translation.buildRequest(request.body, upstreamModel)))]
      : spliceModel(request, upstreamModel.name);
    const reading = translation
      ? translatedEmbeddings(translation.readAnswer, {
          slug,
          ...inputsOf(request.body),
          estimateInputTokens: () => estimateInputTokens(request.body),
        })
      : nativeEmbeddings(slug);
    return {
      events: new AnswerRelay(exchange, reading, context.limits.upstreamAnswerBytesMax),
      begin: (events) => context.upstreams.call(api.endpoint, parts, timeouts, events),
    };
  },
};

function nativeEmbeddings(slug: string): AnswerReading {
  return (bytes) => {
    const answer = scanAnswer(bytes, { start: 0, end: bytes.length }, { slug, listName: "data" });
    if (!answer?.hasList) throw badAnswer("not in OpenAI's format");
    const usage = readChatUsage(answer.usage, answer.serviceTier);
    return {
      bytes: applyEdits(bytes, answer.edits),
      usage: {
        ...embeddingsUsage(usage?.inputTokens ?? null),
        ...(usage?.details && { details: usage.details }),
      },
    };
  };
}

/** Translated upstreams accept only texts, so an array is a list of inputs. */
function inputsOf({ input, encoding_format: encoding }: EmbeddingsRequest["body"]) {
  return { inputCount: Array.isArray(input) ? input.length : 1, asBase64: encoding === "base64" };
}

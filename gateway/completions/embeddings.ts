import { embeddingsUsage, readChatUsage } from "../wire/token-usage.ts";
import {
  type EmbeddingsRequest,
  readEmbeddingsRequest,
} from "../dialects/embeddings/read-embeddings-request.ts";
import { applyEdits, spliceModel } from "../wire/bytes.ts";
import { scanAnswer } from "../wire/scan-answer.ts";
import { AnswerRelay } from "./answer-relay.ts";
import type { ModelCall, Operation } from "./operation.ts";
import { estimateInputTokens } from "../usage/counting/estimate-input-tokens.ts";
import { badAnswer } from "../wire/bad-answer.ts";
import { relayed } from "./relayed.ts";
import { translatedEmbeddings } from "./translated-answer.ts";
import type { Endpoint, EmbeddingsTranslation } from "../providers/provider.ts";
import type { Attempt } from "../routing/attempts.ts";
import type { UsableCandidate } from "../routing/candidate.ts";

export const embeddings: Operation<EmbeddingsRequest> = orTranslated(
  relayed<EmbeddingsRequest>({
    endpointName: "embeddings",
    telemetryName: "embeddings",
    wording: { purpose: "embeddings", modelKind: "an embedding model" },
    forwardedHeaders: null,
    readRequest: readEmbeddingsRequest,
    promptOf: (body) => body,
    buildRequest: (request, { name }) => spliceModel(request, name),
    readAnswer(bytes, slug) {
      const answer = scanAnswer(bytes, { start: 0, end: bytes.length }, { slug, listName: "data" });
      if (!answer?.list) throw badAnswer("not in OpenAI's format");
      const usage = readChatUsage(answer.usage, answer.serviceTier);
      return {
        bytes: applyEdits(bytes, answer.edits),
        usage: {
          ...embeddingsUsage(usage?.inputTokens ?? null),
          ...(usage?.details && { details: usage.details }),
        },
      };
    },
  }),
);

function orTranslated(native: Operation<EmbeddingsRequest>): Operation<EmbeddingsRequest> {
  return {
    ...native,
    prepare(call, candidate) {
      const { endpoint, translation } = candidate.apis.embeddings ?? {};
      return endpoint && translation
        ? prepareTranslated(call, candidate, endpoint, translation)
        : native.prepare(call, candidate);
    },
  };
}

function prepareTranslated(
  { context, exchange, request }: ModelCall<EmbeddingsRequest>,
  { upstreamModel, timeouts }: UsableCandidate,
  endpoint: Endpoint,
  translation: EmbeddingsTranslation,
): Attempt {
  const { body, model: slug } = request;
  const bytes = Buffer.from(JSON.stringify(translation.buildRequest(body, upstreamModel)));
  const read = translatedEmbeddings(translation.readAnswer, {
    slug,
    ...inputsOf(body),
    estimateInputTokens: () => estimateInputTokens(body),
  });
  return {
    events: new AnswerRelay(exchange, read, context.limits.upstreamAnswerBytesMax),
    begin: (events) => context.upstreams.call(endpoint, [bytes], timeouts, events),
  };
}

/** Translated upstreams accept only texts, so an array is a list of inputs. */
function inputsOf({ input, encoding_format: encoding }: EmbeddingsRequest["body"]) {
  return { inputCount: Array.isArray(input) ? input.length : 1, asBase64: encoding === "base64" };
}

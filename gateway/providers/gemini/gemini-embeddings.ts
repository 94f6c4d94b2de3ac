import { type EmbeddingsRequestBody, isObject } from "../../wire/chat-completion.ts";
import type { EmbeddingsAnswer, EmbeddingsApi, Endpoint, UpstreamModel } from "../provider.ts";
import { unsupported } from "../../wire/unsupported.ts";
import { invalidValue } from "../../wire/parameter-errors.ts";
import { bareModelName } from "./model-path.ts";

/** Embeddings of one text or many in one request. https://ai.google.dev/api/embeddings#method:-models.batchembedcontents */
export function geminiEmbeddings(endpoint: Endpoint): EmbeddingsApi {
  return { form: "translated", endpoint, buildRequest: buildEmbedRequest, readAnswer: readEmbedAnswer };
}

function buildEmbedRequest({ input, dimensions }: EmbeddingsRequestBody, model: UpstreamModel): object {
  if (dimensions !== undefined && dimensions !== null && typeof dimensions !== "number") {
    throw invalidValue("dimensions", "must be a number");
  }
  return {
    requests: textsOf(input).map((text) => ({
      model: `models/${bareModelName(model.name)}`,
      content: { parts: [{ text }] },
      outputDimensionality: dimensions ?? undefined,
    })),
  };
}

function textsOf(input: unknown): string[] {
  const inputs: unknown[] = Array.isArray(input) ? input : [input];
  if (inputs.length > 0 && inputs.every((text) => typeof text === "string")) return inputs;
  if (inputs.some((item) => typeof item === "number" || Array.isArray(item))) {
    throw unsupported("input", "Gemini embeds texts, not the numbers of tokens.");
  }
  throw invalidValue("input", "must be a string or an array of strings");
}

function readEmbedAnswer(answer: unknown): EmbeddingsAnswer {
  const embeddings = isObject(answer) ? answer["embeddings"] : null;
  if (!isObject(answer) || !Array.isArray(embeddings)) throw new Error("The answer has no embeddings.");
  const { usageMetadata: usage } = answer;
  const count = isObject(usage) ? usage["promptTokenCount"] : null;
  return {
    embeddings: embeddings.map(valuesOf),
    // Models before gemini-embedding-2 do not tell.
    inputTokens: typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : null,
  };
}

function valuesOf(embedding: unknown): number[] {
  const values = isObject(embedding) ? embedding["values"] : null;
  if (!Array.isArray(values) || !values.every((value) => Number.isFinite(value))) {
    throw new Error("An embedding has no values.");
  }
  return values;
}

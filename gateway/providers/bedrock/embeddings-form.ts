import type { EmbeddingsAnswer } from "../provider.ts";
import type { EmbeddingsRequestBody } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import {
  ifGiven,
  expectString,
  invalidValue,
  unsupported,
  expectNumber,
} from "../../wire/parameter-errors.ts";

/** Finds the model's own embeddings format, because Converse has no embeddings. Null for an unknown model. */
export function findEmbeddingsForm(modelName: string): EmbeddingsForm | null {
  if (/amazon\.titan-embed-(g1-)?text/.test(modelName)) return titanEmbeddings(modelName.includes("text-v2"));
  if (modelName.includes("cohere.embed-")) return cohereEmbeddings(modelName.includes("embed-v4"));
  return null;
}

/**
 * Forwards Cohere's own parameter `input_type`, which states the purpose of the embeddings.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-embed.html
 */
function cohereEmbeddings(isV4: boolean): EmbeddingsForm {
  return {
    buildRequest(body) {
      return {
        texts: textsOf(body),
        input_type: ifGiven(body["input_type"], "input_type", expectString) ?? "search_document",
        embedding_types: ["float"],
        output_dimension: dimensionsOf(body, isV4),
      };
    },
    readAnswer(answer) {
      const embeddings = isObject(answer) ? answer["embeddings"] : null;
      const vectors = isObject(embeddings) ? embeddings["float"] : embeddings;
      if (!Array.isArray(vectors)) throw new Error("The Cohere response is malformed.");
      // Only a header reports the number of tokens.
      return { embeddings: vectors.map(expectVector), inputTokens: null };
    },
  };
}

/** https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html */
function titanEmbeddings(isV2: boolean): EmbeddingsForm {
  return {
    buildRequest(body) {
      const [inputText, ...more] = textsOf(body);
      if (inputText === undefined || more.length > 0) {
        throw invalidValue("input", "must be a single text, because Titan embeds one at a time");
      }
      return { inputText, dimensions: dimensionsOf(body, isV2) };
    },
    readAnswer(answer) {
      if (!isObject(answer)) throw new Error("The Titan response is malformed.");
      const { embedding, inputTextTokenCount: count } = answer;
      const isCount = typeof count === "number" && Number.isSafeInteger(count) && count >= 0;
      return { embeddings: [expectVector(embedding)], inputTokens: isCount ? count : null };
    },
  };
}

type EmbeddingsForm = {
  buildRequest(body: EmbeddingsRequestBody): object;
  readAnswer(answer: unknown): EmbeddingsAnswer;
};

function textsOf({ input }: EmbeddingsRequestBody): string[] {
  if (!Array.isArray(input)) return [expectString(input, "input")];
  return input.map((text: unknown, index) => {
    if (typeof text === "number" || Array.isArray(text)) {
      throw unsupported("input", "models on Bedrock accept text, not token IDs. Send strings.");
    }
    return expectString(text, `input[${index}]`);
  });
}

function dimensionsOf(body: EmbeddingsRequestBody, canChoose: boolean): number | undefined {
  const dimensions = ifGiven(body["dimensions"], "dimensions", expectNumber);
  if (dimensions === undefined || canChoose) return dimensions;
  throw unsupported("dimensions", "this model's embeddings have a fixed length. Remove the parameter.");
}

function expectVector(value: unknown): number[] {
  if (!Array.isArray(value) || !value.every((number) => Number.isFinite(number))) {
    throw new Error("The embedding is malformed.");
  }
  return value;
}

import { isObject } from "../../wire/chat-completion.ts";
import { dimensionsOf, type EmbeddingsForm, expectVector, textsOf } from "./embeddings-form.ts";
import { expectString, ifGiven } from "../../wire/expect-type.ts";

/**
 * Cohere's own parameter `input_type`, which says what the embeddings are for, may be sent along.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-embed.html
 */
export function cohereEmbeddings(isV4: boolean): EmbeddingsForm {
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
      if (!Array.isArray(vectors)) throw new Error("It is no answer of Cohere.");
      // How many tokens there were is told in a header only.
      return { embeddings: vectors.map(expectVector), inputTokens: null };
    },
  };
}

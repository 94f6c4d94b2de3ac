import { isObject } from "../../wire/chat-completion.ts";
import { dimensionsOf, type EmbeddingsForm, expectVector, textsOf } from "./embeddings-form.ts";
import { invalidValue } from "../../wire/parameter-errors.ts";

/** https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html */
export function titanEmbeddings(isV2: boolean): EmbeddingsForm {
  return {
    buildRequest(body) {
      const [inputText, ...more] = textsOf(body);
      if (inputText === undefined || more.length > 0) {
        throw invalidValue("input", "must be one text: Titan embeds one at a time");
      }
      return { inputText, dimensions: dimensionsOf(body, isV2) };
    },
    readAnswer(answer) {
      if (!isObject(answer)) throw new Error("It is no answer of Titan.");
      const { embedding, inputTextTokenCount: count } = answer;
      const isCount = typeof count === "number" && Number.isSafeInteger(count) && count >= 0;
      return { embeddings: [expectVector(embedding)], inputTokens: isCount ? count : null };
    },
  };
}

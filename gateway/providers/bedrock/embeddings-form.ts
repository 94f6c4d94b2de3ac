import type { EmbeddingsRequestBody } from "../../wire/chat-completion.ts";
import type { EmbeddingsAnswer } from "../provider.ts";
import { unsupported } from "../../wire/unsupported.ts";
import { expectNumber, expectString, ifGiven } from "../../wire/expect-type.ts";

/** How one family of models is asked for embeddings. */
export type EmbeddingsForm = {
  buildRequest(body: EmbeddingsRequestBody): object;
  readAnswer(answer: unknown): EmbeddingsAnswer;
};

/** What is to be embedded. Bedrock takes no tokens. */
export function textsOf({ input }: EmbeddingsRequestBody): string[] {
  if (!Array.isArray(input)) return [expectString(input, "input")];
  return input.map((text: unknown, index) => {
    if (typeof text === "number" || Array.isArray(text)) {
      throw unsupported("input", "Models on Bedrock take texts, no tokens.");
    }
    return expectString(text, `input[${index}]`);
  });
}

/** How long the embeddings shall be, for models that can make shorter ones. */
export function dimensionsOf(body: EmbeddingsRequestBody, canChoose: boolean): number | undefined {
  const dimensions = ifGiven(body["dimensions"], "dimensions", expectNumber);
  if (dimensions === undefined || canChoose) return dimensions;
  throw unsupported("dimensions", "This model's embeddings have one length only.");
}

export function expectVector(value: unknown): number[] {
  if (!Array.isArray(value) || !value.every((number) => Number.isFinite(number))) {
    throw new Error("It is no embedding.");
  }
  return value;
}

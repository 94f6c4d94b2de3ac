import { embeddingsUsage, readTokenUsage } from "../wire/token-usage.ts";
import type { ChatAnswer, EmbeddingsAnswer } from "../providers/provider.ts";
import { type AnswerReading, estimateAnswerTokens, withEstimates } from "./answer-relay.ts";
import { errorWithoutSecrets } from "./read-upstream-error.ts";
import { badAnswer, toAnswerError } from "../wire/bad-answer.ts";
import { parseAnswer } from "../wire/parse-upstream.ts";

type TranslatedAnswerOptions = {
  /** May throw any error for a malformed answer. */
  readAnswer: (answer: unknown) => ChatAnswer;
  formatAnswer: (answer: ChatAnswer) => object;
  estimateInputTokens: () => number;
  /** The provider's key, which an upstream's error may quote. */
  secret: string | null;
};

export function translatedAnswer({
  readAnswer,
  formatAnswer,
  estimateInputTokens: inputTokens,
  secret,
}: TranslatedAnswerOptions): AnswerReading {
  return (bytes) => {
    try {
      const answer = readAnswer(parseAnswer(bytes));
      const usage = withEstimates(answer.usage, {
        inputTokens,
        outputTokens: () => estimateAnswerTokens(bytes),
      });
      return {
        bytes: Buffer.from(JSON.stringify(formatAnswer({ ...answer, usage }))),
        usage: readTokenUsage(answer.usage, answer.usageDetails),
      };
    } catch (thrown) {
      throw errorWithoutSecrets(toAnswerError(thrown), secret);
    }
  };
}

/** OpenAI's SDKs request base64 by default: 32-bit floats, little-endian. */
export function translatedEmbeddings(
  readAnswer: (answer: unknown) => EmbeddingsAnswer,
  { slug, inputCount, asBase64, estimateInputTokens }: TranslatedEmbeddingsOptions,
): AnswerReading {
  return (bytes) => {
    const { embeddings, inputTokens } = readAnswer(parseAnswer(bytes));
    // Without one embedding for each text, clients would pair texts with the wrong embeddings.
    if (embeddings.length !== inputCount) throw badAnswer("missing an embedding for some inputs");
    const shownTokens = inputTokens ?? estimateInputTokens();
    const list = {
      object: "list",
      data: embeddings.map((numbers, index) => ({
        object: "embedding",
        index,
        embedding: asBase64 ? Buffer.from(new Float32Array(numbers).buffer).toString("base64") : numbers,
      })),
      model: slug,
      usage: { prompt_tokens: shownTokens, total_tokens: shownTokens },
    };
    return { bytes: Buffer.from(JSON.stringify(list)), usage: embeddingsUsage(inputTokens) };
  };
}

type TranslatedEmbeddingsOptions = {
  slug: string;
  inputCount: number;
  asBase64: boolean;
  /** Supplies the token count if the upstream reports none, because clients require a count. */
  estimateInputTokens: () => number;
};

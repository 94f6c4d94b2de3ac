import { GatewayError } from "../errors.ts";
import type { ChatAnswer, EmbeddingsAnswer } from "../providers/provider.ts";
import { embeddingsUsage, readTokenUsage } from "../wire/chat-completion.ts";
import type { AnswerReading } from "./answer-relay.ts";
import { badAnswer } from "./stream-reading.ts";

/**
 * An answer between an upstream and a client with different forms.
 * @param readAnswer may throw anything for what is no answer
 */
export function translatedAnswer(
  readAnswer: (answer: unknown) => ChatAnswer,
  formatAnswer: (answer: ChatAnswer) => object,
): AnswerReading {
  return (bytes) => {
    const answer = read(bytes, readAnswer);
    return { bytes: Buffer.from(JSON.stringify(formatAnswer(answer))), usage: readTokenUsage(answer.usage) };
  };
}

/** The same for embeddings. OpenAI's SDK asks for base64: 32-bit floats, little-endian. */
export function translatedEmbeddings(
  readAnswer: (answer: unknown) => EmbeddingsAnswer,
  slug: string,
  asBase64: boolean,
): AnswerReading {
  return (bytes) => {
    const { embeddings, inputTokens } = read(bytes, readAnswer);
    const list = {
      object: "list",
      data: embeddings.map((numbers, index) => ({
        object: "embedding",
        index,
        embedding: asBase64 ? Buffer.from(new Float32Array(numbers).buffer).toString("base64") : numbers,
      })),
      model: slug,
      // Clients count on the member, also where the upstream does not count.
      usage: { prompt_tokens: inputTokens ?? 0, total_tokens: inputTokens ?? 0 },
    };
    return { bytes: Buffer.from(JSON.stringify(list)), usage: embeddingsUsage(inputTokens) };
  };
}

function read<Answer>(bytes: Buffer, readAnswer: (answer: unknown) => Answer): Answer {
  try {
    return readAnswer(JSON.parse(bytes.toString("utf8")));
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    // Without the cause: a parser's message quotes what it read.
    throw badAnswer("not in its provider's form");
  }
}

import { GatewayError } from "../errors.ts";
import type { ChatTranslation, EmbeddingsAnswer } from "../providers/provider.ts";
import { embeddingsUsage, readTokenUsage } from "../wire/chat-completion.ts";
import type { AnswerReading } from "./answer-relay.ts";
import { badAnswer } from "./stream-reading.ts";

/** What the gateway itself says in an answer. */
type Envelope = { id: string; createdSeconds: number; slug: string };

/** The answer of an upstream with a form of its own, as a chat completion. */
export function translatedAnswer(translation: ChatTranslation, envelope: Envelope): AnswerReading {
  return (bytes) => {
    const { choices, usage } = read(bytes, translation.readAnswer);
    const completion = {
      id: envelope.id,
      object: "chat.completion",
      created: envelope.createdSeconds,
      model: envelope.slug,
      choices,
      ...(usage !== null && { usage }),
    };
    return { bytes: Buffer.from(JSON.stringify(completion)), usage: readTokenUsage(usage) };
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

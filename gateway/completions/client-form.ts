import type { AnswerEnvelope, StreamWriter } from "../dialects/dialect.ts";
import type { ChatAnswer } from "../providers/provider.ts";
import type { AnswerReading } from "./answer-relay.ts";
import type { StreamReading } from "./stream-reading.ts";

/** How the client wants its answer. */
export type ClientForm = {
  /** Where the upstream's chat completions can pass as they come; null for a client that speaks another dialect. */
  passChat: {
    answer: AnswerReading;
    /** @param secret our credential, which an upstream's error may quote */
    stream(secret: string | null): StreamReading;
  } | null;
  /** For all that has to be translated. */
  formatAnswer(answer: ChatAnswer): object;
  createStreamWriter(): StreamWriter;
};

export function toEnvelope(exchange: { id: string; createdAt: Date }, slug: string): AnswerEnvelope {
  return { id: exchange.id, createdSeconds: Math.floor(exchange.createdAt.getTime() / 1000), slug };
}

import { applyEdits } from "../wire/apply-edits.ts";
import { embeddingsUsage, readTokenUsage } from "../wire/chat-completion.ts";
import { scanAnswer } from "../wire/scan-answer.ts";
import type { AnswerReading } from "./answer-relay.ts";
import { badAnswer } from "./stream-reading.ts";

/**
 * The answer of an upstream that speaks the client's form itself: its own bytes, with the slug in `model`.
 * @param listName the member that makes it one: `choices` or `data`, an array
 */
export function nativeAnswer(slug: string, listName: "choices" | "data"): AnswerReading {
  return (bytes) => {
    const answer = scanAnswer(bytes, { start: 0, end: bytes.length }, { slug, listName });
    if (!answer?.hasList) throw badAnswer("not in OpenAI's form");
    const usage = readTokenUsage(answer.usage);
    return {
      bytes: applyEdits(bytes, answer.edits),
      usage: listName === "data" ? embeddingsUsage(usage?.inputTokens ?? null) : usage,
    };
  };
}

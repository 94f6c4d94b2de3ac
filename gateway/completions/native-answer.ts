import { applyEdits } from "../wire/apply-edits.ts";
import { embeddingsUsage, readTokenUsage, type TokenUsage } from "../wire/chat-completion.ts";
import { isKey, scanMembers } from "../wire/json-layout.ts";
import type { AnswerReading } from "./answer-relay.ts";
import { badAnswer } from "./stream-reading.ts";

/**
 * The answer of an upstream that speaks the client's form itself: its own bytes, with the slug in `model`.
 * @param listName the member that makes it one: `choices` or `data`, an array
 */
export function nativeAnswer(slug: string, listName: "choices" | "data"): AnswerReading {
  return (bytes) => {
    const members = findMembers(bytes, listName);
    if (members === null) throw badAnswer("not in OpenAI's form");
    const usage = readUsage(bytes, members.usage);
    return {
      bytes: withModel(bytes, members.models, slug),
      usage: listName === "data" ? embeddingsUsage(usage?.inputTokens ?? null) : usage,
    };
  };
}

type Range = { start: number; end: number };

/**
 * Where the members stand that are read here; null for bytes that are no such answer. The rest is walked over, not
 * parsed: that it is all there is known from HTTP, and from the brackets that close.
 */
function findMembers(bytes: Buffer, listName: string): { models: Range[]; usage: Range | null } | null {
  const models: Range[] = [];
  let usage: Range | null = null;
  let hasList = false;
  const result = scanMembers(bytes, 0, bytes.length, Infinity, (keyStart, keyEnd, start, end) => {
    if (isKey(bytes, keyStart, keyEnd, "model")) models.push({ start, end });
    else if (isKey(bytes, keyStart, keyEnd, "usage")) usage = { start, end };
    else if (isKey(bytes, keyStart, keyEnd, listName)) hasList = bytes[start] === openBracket;
  });
  return result === "complete" && hasList ? { models, usage } : null;
}

function readUsage(bytes: Buffer, range: Range | null): TokenUsage | null {
  if (range === null) return null;
  try {
    return readTokenUsage(JSON.parse(bytes.toString("utf8", range.start, range.end)));
  } catch {
    return null;
  }
}

/** The same bytes with the slug as the value of the top-level `model`, which is added where there is none. */
function withModel(bytes: Buffer, models: Range[], slug: string): Buffer {
  const text = JSON.stringify(slug);
  if (models.length > 0)
    return applyEdits(
      bytes,
      models.map((range) => ({ ...range, text })),
    );
  const first = bytes.indexOf("{") + 1;
  return applyEdits(bytes, [{ start: first, end: first, text: `"model":${text},` }]);
}

const openBracket = 0x5b;

import type { ReasoningDetail } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import type { ContentBlock, RedactedThinkingBlock, ThinkingBlock } from "./anthropic-message.ts";

/** Identifies Claude's signatures, which other models cannot verify. */
const format = "anthropic-claude-v1";

/**
 * Converts a thinking block, or a piece of one, to a detail that clients keep and return. Null for an empty block.
 * @param index the block's position in the response
 */
export function readReasoningDetail(
  { thinking, signature, data }: Record<string, unknown>,
  index: number,
): ReasoningDetail | null {
  if (isText(data)) return { type: "reasoning.encrypted", format, index, data };
  if (!isText(thinking) && !isText(signature)) return null;
  return {
    type: "reasoning.text",
    format,
    index,
    ...(isText(thinking) && { text: thinking }),
    ...(isText(signature) && { signature }),
  };
}

type Thought = { index: number; block: ThoughtBlock };

type ThoughtBlock = ThinkingBlock | RedactedThinkingBlock;

/** Joins the pieces of a stream and keeps the order. Omits other formats and unsigned thinking. */
export function toThoughts(details: unknown): Thought[] {
  const blocks = new Map<number, ThoughtBlock>();
  let end = 0;
  for (const detail of Array.isArray(details) ? (details as unknown[]) : []) {
    if (!isObject(detail) || detail["format"] !== format) continue;
    const index = isIndex(detail["index"]) ? detail["index"] : end;
    blocks.set(index, withPiece(blocks.get(index), detail));
    end = Math.max(end, index + 1);
  }
  return [...blocks]
    .map(([index, block]) => ({ index, block }))
    .filter(({ block }) => block.type === "redacted_thinking" || block.signature !== "")
    .toSorted((a, b) => a.index - b.index);
}

function withPiece(
  before: ThoughtBlock | undefined,
  { text, signature, data }: Record<string, unknown>,
): ThoughtBlock {
  if (isText(data)) return { type: "redacted_thinking", data };
  const block = before?.type === "thinking" ? before : { thinking: "", signature: "" };
  return {
    type: "thinking",
    thinking: block.thinking + (isText(text) ? text : ""),
    signature: block.signature + (isText(signature) ? signature : ""),
  };
}

export function isThought(block: ContentBlock): block is ThoughtBlock {
  return block.type === "thinking" || block.type === "redacted_thinking";
}

function isIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

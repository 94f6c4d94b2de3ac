import type { ReasoningDetail } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import type { ContentBlock, RedactedThinkingBlock, ThinkingBlock } from "./messages-request.ts";

/** Says whose thoughts they are: only Anthropic can check their signatures. */
const format = "anthropic-claude-v1";

/**
 * A thought, or a piece of one, as a client may keep it and send it back. Null for what says nothing.
 * @param index the place of its block among all of the answer's
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

/** Its index is its place among the blocks of the answer that it comes from. */
type Thought = { index: number; block: ThoughtBlock };

type ThoughtBlock = ThinkingBlock | RedactedThinkingBlock;

/**
 * The thoughts that a client sends back, in their order. Pieces of a stream that it has not put together are put together
 * here; what is another provider's, or has lost its signature, is left out.
 */
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

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

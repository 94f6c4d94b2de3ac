import type { ReasoningDetail } from "../../wire/chat-completion.ts";
import { openDetail } from "./sealed-detail.ts";

/**
 * Converts a returned thinking block to its upstream's form. Null if the upstream needs only the text, or
 * nothing.
 * @param index the block's position in its turn, which Anthropic's reasoning requires
 */
export function toReasoningDetail(
  thought: { type: "thinking"; text: string; signature: string } | { type: "redacted"; data: string },
  index: number,
): ReasoningDetail | null {
  const seal = thought.type === "thinking" ? thought.signature : thought.data;
  const sealed = openDetail(seal);
  if (sealed === null) {
    if (seal === "") return null;
    return thought.type === "thinking"
      ? { type: "reasoning.text", format: anthropicFormat, index, text: thought.text, signature: seal }
      : { type: "reasoning.encrypted", format: anthropicFormat, index, data: seal };
  }
  const { type, format, ...rest } = sealed;
  if (type === undefined || format === undefined) return null;
  if (thought.type === "redacted" || type === "reasoning.encrypted") return { type, format, ...rest };
  const field = type === "reasoning.summary" ? "summary" : "text";
  return { type, format, ...rest, [field]: thought.text };
}

/** OpenRouter's name for this format. */
export const anthropicFormat = "anthropic-claude-v1";

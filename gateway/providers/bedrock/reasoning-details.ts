import type { ReasoningDetail } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import type { ReasoningBlock } from "./converse-request.ts";
import type { ModelFamily } from "./model-family.ts";

/**
 * Claude's signatures are valid on every platform, so they have Anthropic's format. Bedrock encrypts redacted
 * reasoning a second time, so only Converse can read it.
 */
export function formatOf(type: ReasoningDetail["type"], { name }: ModelFamily): string {
  if (name !== "claude") return "bedrock-converse-v1";
  return type === "reasoning.text" ? "anthropic-claude-v1" : "bedrock-claude-v1";
}

/** Omits unsigned reasoning that a client returned, because some models reject it or treat it as text. */
export function toReasoningBlocks(details: unknown, family: ModelFamily): ReasoningBlock[] {
  if (family.claude?.thinking === "never") return [];
  return joinPieces(Array.isArray(details) ? details : [], family).flatMap((detail): ReasoningBlock[] => {
    if (detail.data !== "") return [{ reasoningContent: { redactedContent: detail.data } }];
    if (detail.signature === "") return [];
    const { text, signature } = detail;
    return [{ reasoningContent: { reasoningText: { text, signature } } }];
  });
}

type Joined = { index: unknown; text: string; signature: string; data: string };

/** Joins the pieces of a streamed block, because a client may return them separately. They share an index. */
function joinPieces(details: unknown[], family: ModelFamily): Joined[] {
  const joined: Joined[] = [];
  for (const detail of details) {
    if (!isObject(detail) || !isOurs(detail, family)) continue;
    const { index = null } = detail;
    const last = joined.at(-1);
    const target =
      last && index !== null && last.index === index ? last : { index, text: "", signature: "", data: "" };
    if (target !== last) joined.push(target);
    for (const name of ["text", "signature", "data"] as const) {
      const piece = detail[name];
      if (typeof piece === "string") target[name] += piece;
    }
  }
  return joined;
}

function isOurs({ type, format }: Record<string, unknown>, family: ModelFamily): boolean {
  return (type === "reasoning.text" || type === "reasoning.encrypted") && format === formatOf(type, family);
}

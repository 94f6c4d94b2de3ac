import type { ReasoningDetail } from "../../wire/chat-completion.ts";
import { countValues } from "../../wire/json.ts";
import { parseShallowJson } from "../../wire/parse-shallow-object.ts";
import { readPartialDetail } from "../../wire/reasoning-details.ts";

/**
 * Keeps details without a field of their own in `signature` or `data`, which clients return unchanged.
 * Unsigned reasoning gets an empty seal, because Claude Code 2.1.329 returns unsigned thinking to Anthropic.
 */
export function sealDetail({ text: _text, summary: _summary, ...detail }: Partial<ReasoningDetail>): string {
  return `${sealPrefix}${Buffer.from(JSON.stringify(detail)).toString("base64url")}`;
}

/** Opens a seal of this gateway, member by member. Null for any other text. */
export function openDetail(sealed: string): Partial<ReasoningDetail> | null {
  if (!sealed.startsWith(sealPrefix)) return null;
  const json = Buffer.from(sealed.slice(sealPrefix.length), "base64url").toString("utf8");
  const detail = readPartialDetail(parseShallowJson(json, countValues(detailValuesMax)));
  // The block holds text and summary beside the seal.
  const { text: _text, summary: _summary, ...sealedMembers } = detail;
  return sealedMembers;
}

/** Anthropic's signatures are base64, which has no hyphen. */
export const sealPrefix = "gateway-thought-v1.";

/** A detail has at most seven members. */
const detailValuesMax = 20;

import type { ReasoningDetail } from "../../wire/chat-completion.ts";
import { countValues } from "../../wire/json-layout.ts";
import { parseShallowJson } from "../../wire/parse-shallow-object.ts";
import { readPartialDetail } from "../../wire/reasoning-details.ts";

/**
 * What has no place in Anthropic's thoughts (whose thought it is, the signature that its upstream wants back), in the
 * `signature` or the `data` of one. Clients return both as they are. There is nothing secret in it, so that it needs no key.
 *
 * A thought that nobody has signed gets a seal too, though an empty one: Claude Code drops thoughts with a signature when
 * another model goes on with the conversation, but returns those without (2.1.329, tried), and Anthropic refuses them.
 */
export function sealDetail({ text: _text, summary: _summary, ...detail }: Partial<ReasoningDetail>): string {
  return `${sealPrefix}${Buffer.from(JSON.stringify(detail)).toString("base64url")}`;
}

/** What was sealed here, member by member; null for what is another's. */
export function openDetail(sealed: string): Partial<ReasoningDetail> | null {
  if (!sealed.startsWith(sealPrefix)) return null;
  const json = Buffer.from(sealed.slice(sealPrefix.length), "base64url").toString("utf8");
  const detail = readPartialDetail(parseShallowJson(json, countValues(detailValuesMax)));
  // Its text and summary stand beside the seal.
  const { text: _text, summary: _summary, ...sealedMembers } = detail;
  return sealedMembers;
}

/** No signature of Anthropic's begins like this: they are base64, which has no hyphen. */
export const sealPrefix = "gateway-thought-v1.";

/** A detail has seven members at most. */
const detailValuesMax = 20;

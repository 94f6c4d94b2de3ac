import { type ReasoningDetail, readPartialDetail } from "../../wire/chat-completion.ts";
import { countValues, isObject } from "../../wire/json.ts";
import { parseShallowJson } from "../../wire/parse-shallow-object.ts";
import type { DialectRequest } from "../dialect.ts";

/**
 * Encodes a detail for the block's `signature` or `data`, which clients return unchanged. Thinking without a
 * detail gets an empty seal, so that the gateway can remove the block for Anthropic.
 */
export function sealDetail({ text: _text, summary: _summary, ...detail }: Partial<ReasoningDetail>): string {
  return `${sealPrefix}${Buffer.from(JSON.stringify(detail)).toString("base64url")}`;
}

/** Opens a seal of this gateway and drops invalid members. Null for any other text. */
function openDetail(sealed: string): Partial<ReasoningDetail> | null {
  if (!sealed.startsWith(sealPrefix)) return null;
  const json = Buffer.from(sealed.slice(sealPrefix.length), "base64url").toString("utf8");
  const detail = readPartialDetail(parseShallowJson(json, countValues(detailValuesMax)));
  // The block contains the text and the summary outside the seal.
  const { text: _text, summary: _summary, ...sealedMembers } = detail;
  return sealedMembers;
}

/** Anthropic's signatures are base64, which has no hyphen. */
export const sealPrefix = "gateway-thought-v1.";

/** Enough for the six members of a sealed detail. Each name and each value counts. */
const detailValuesMax = 20;

/**
 * Converts a returned thinking block to a reasoning detail. Null for an empty seal.
 * @param seal the signature, or the data of redacted thinking, whose `text` is null
 * @param index the block's position in its turn, which Anthropic's reasoning requires
 */
export function toReasoningDetail(seal: string, text: string | null, index: number): ReasoningDetail | null {
  const sealed = openDetail(seal);
  if (sealed === null) {
    if (seal === "") return null;
    return text === null
      ? { type: "reasoning.encrypted", format: anthropicFormat, index, data: seal }
      : { type: "reasoning.text", format: anthropicFormat, index, text, signature: seal };
  }
  const { type, format, ...rest } = sealed;
  if (type === undefined || format === undefined) return null;
  if (text === null || type === "reasoning.encrypted") return { type, format, ...rest };
  const field = type === "reasoning.summary" ? "summary" : "text";
  return { type, format, ...rest, [field]: text };
}

/** OpenRouter's name for Anthropic's reasoning format. */
export const anthropicFormat = "anthropic-claude-v1";

/**
 * Removes other upstreams' sealed reasoning, because Anthropic rejects foreign signatures. Returns the same
 * request if its bytes contain no seal.
 */
export function withoutSealedThoughts(request: DialectRequest): DialectRequest {
  if (!request.bytes.includes(`"${sealPrefix}`)) return request;
  const { messages } = request.body;
  const rest = (Array.isArray(messages) ? (messages as unknown[]) : []).flatMap(withoutSealed);
  return { ...request, body: { ...request.body, messages: rest }, modelRange: null };
}

/** Removes a message with only sealed reasoning, because content must not be empty. */
function withoutSealed(message: unknown): unknown[] {
  const { content } = isObject(message) ? message : {};
  if (!isObject(message) || !Array.isArray(content)) return [message];
  const rest = (content as unknown[]).filter((block) => !isSealed(block));
  if (rest.length === content.length) return [message];
  return rest.length > 0 ? [{ ...message, content: rest }] : [];
}

function isSealed(block: unknown): boolean {
  if (!isObject(block)) return false;
  const seal = block["type"] === "thinking" ? block["signature"] : block["data"];
  const isThought = block["type"] === "thinking" || block["type"] === "redacted_thinking";
  return isThought && typeof seal === "string" && seal.startsWith(sealPrefix);
}

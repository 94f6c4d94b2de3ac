import { isObject } from "../../wire/json.ts";
import type { DialectRequest } from "../dialect.ts";
import { sealPrefix } from "./sealed-detail.ts";

/**
 * Removes sealed reasoning of other upstreams from a request to Anthropic, which rejects foreign signatures.
 * Only Claude Code removes it itself. Returns the same request if there is nothing to remove.
 */
export function withoutSealedThoughts(request: DialectRequest): DialectRequest {
  if (!request.bytes.includes(`"${sealPrefix}`)) return request;
  const { messages } = request.body;
  const rest = (Array.isArray(messages) ? (messages as unknown[]) : []).flatMap(withoutSealed);
  return { ...request, body: { ...request.body, messages: rest }, modelRange: null };
}

/** Removes a turn with only sealed reasoning, because turns must not be empty. */
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

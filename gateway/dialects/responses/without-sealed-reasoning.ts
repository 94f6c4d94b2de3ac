import { isObject } from "../../wire/json.ts";
import type { DialectRequest } from "../dialect.ts";
import { sealPrefix } from "./sealed-reasoning.ts";

/**
 * A request for OpenAI without the thoughts that another upstream has had earlier in the conversation, and which this
 * dialect has sealed: OpenAI refuses what it has not encrypted. The request itself where there are none, which is nearly
 * always.
 */
export function withoutSealedReasoning(request: DialectRequest): DialectRequest {
  const { bytes, body } = request;
  if (!bytes.includes(`"${sealPrefix}`) && !bytes.includes('"rs_')) return request;
  if (!Array.isArray(body["input"])) return request;
  const input = body["input"] as unknown[];
  const rest = input.filter((item) => !isOurs(item));
  if (rest.length === input.length) return request;
  return { ...request, body: { ...body, input: rest }, modelRange: null };
}

/** Thoughts that were only text have no seal, but an id that was made here: OpenAI's own has no second underscore. */
function isOurs(item: unknown): boolean {
  if (!isObject(item) || item["type"] !== "reasoning") return false;
  const { encrypted_content: sealed, id } = item;
  if (typeof sealed === "string") return sealed.startsWith(sealPrefix);
  return typeof id === "string" && /^rs_[0-9a-z]{26}_\d+$/.test(id);
}

import { isObject } from "../../wire/json.ts";
import type { DialectRequest } from "../dialect.ts";
import { withReadableSummary } from "./conversation-summary.ts";
import { sealPrefix } from "./sealed-reasoning.ts";

/**
 * Removes sealed reasoning of other upstreams from a request to OpenAI, which rejects it. Converts summaries
 * of this gateway to messages. Returns the same request if there is nothing to change.
 */
export function withoutSealedReasoning(request: DialectRequest): DialectRequest {
  const { bytes, body } = request;
  if (!bytes.includes('"gateway-') && !bytes.includes('"rs_')) return request;
  if (!Array.isArray(body["input"])) return request;
  const input = body["input"] as unknown[];
  const rest = input.filter((item) => !isOurs(item)).map(withReadableSummary);
  if (rest.length === input.length && rest.every((item, index) => item === input[index])) return request;
  return { ...request, body: { ...body, input: rest }, modelRange: null };
}

/** Text-only reasoning has no seal, but an ID of this gateway. OpenAI's IDs have no second underscore. */
function isOurs(item: unknown): boolean {
  if (!isObject(item) || item["type"] !== "reasoning") return false;
  const { encrypted_content: sealed, id } = item;
  if (typeof sealed === "string") return sealed.startsWith(sealPrefix);
  return typeof id === "string" && /^rs_[0-9a-z]{26}_\d+$/.test(id);
}

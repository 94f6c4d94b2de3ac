import { isObject } from "../../wire/chat-completion.ts";
import type { DialectRequest } from "../dialect.ts";
import { sealPrefix } from "./sealed-reasoning.ts";

/**
 * A request for OpenAI without the thoughts that another upstream has had earlier in the conversation, and which this
 * dialect has sealed: OpenAI refuses what it has not encrypted. The request itself where there are none, which is nearly
 * always.
 */
export function withoutSealedReasoning(request: DialectRequest): DialectRequest {
  if (!request.bytes.includes(`"${sealPrefix}`)) return request;
  const { input } = request.body;
  if (!Array.isArray(input)) return request;
  const rest = (input as unknown[]).filter((item) => !isSealed(item));
  return { ...request, body: { ...request.body, input: rest }, modelRange: null };
}

function isSealed(item: unknown): boolean {
  if (!isObject(item) || item["type"] !== "reasoning") return false;
  const sealed = item["encrypted_content"];
  return typeof sealed === "string" && sealed.startsWith(sealPrefix);
}

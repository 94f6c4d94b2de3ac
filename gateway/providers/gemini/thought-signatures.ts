import type { ChatMessage, ReasoningDetail, ToolCall } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";

/**
 * The signatures that return with an assistant message. Gemini is stateless. It encrypts its reasoning in a
 * `thoughtSignature`, on a text or on the first of parallel calls, and continues from there. Since Gemini 3 it rejects
 * calls without one. https://ai.google.dev/gemini-api/docs/thought-signatures Clients drop unknown fields, so a
 * signature is sent in two places: - `reasoning_details` of the message, as OpenRouter defines it. Tools made for
 * OpenRouter return it; - `extra_content` of the call, as in Google's own chat completions. OpenAI's SDKs return it
 * with the message, Vercel's does for a provider called `google`. https://ai.google.dev/gemini-api/docs/openai Some
 * gateways hide the signature in the call's ID. It often has thousands of characters. OpenAI allows 40 or 64 and Bedrock 64, so the conversation could not continue with another provider.
 * https://github.com/BerriAI/litellm/issues/18160, https://github.com/agentgateway/agentgateway/issues/3342 A client
 * that drops both places continues with `skippedSignature`.
 */
export class ThoughtSignatures {
  /** The text's signature. Null when it has none or none returned. */
  readonly ofText: string | null;
  readonly #ofCalls: ReadonlyMap<string, string>;

  constructor(message: ChatMessage) {
    const details: unknown = message["reasoning_details"];
    const ours = Array.isArray(details) ? details.filter(isOurs) : [];
    this.ofText = ours.findLast(({ id }) => typeof id !== "string")?.data ?? null;
    this.#ofCalls = new Map(ours.flatMap(({ id, data }) => (typeof id === "string" ? [[id, data]] : [])));
  }

  ofCall(call: Record<string, unknown>): string | null {
    const detailed = typeof call["id"] === "string" ? this.#ofCalls.get(call["id"]) : undefined;
    if (detailed !== undefined) return detailed;
    const extra = call["extra_content"];
    const google = isObject(extra) ? extra["google"] : null;
    const signature = isObject(google) ? google["thought_signature"] : null;
    return typeof signature === "string" && signature !== "" ? signature : null;
  }
}

/**
 * Google's placeholder for a lost signature or another model's call. The reasoning behind the call is lost too.
 * https://ai.google.dev/gemini-api/docs/thought-signatures#faqs
 */
export const skippedSignature = "skip_thought_signature_validator";

/**
 * @param index its index among the message's details
 * @param callId null for the signature of a text
 */
export function toReasoningDetail(signature: string, index: number, callId: string | null): ReasoningDetail {
  return { type: "reasoning.encrypted", format, id: callId, index, data: signature };
}

export function signCall(call: ToolCall, signature: string): SignedToolCall {
  return { ...call, extra_content: { google: { thought_signature: signature } } };
}

export type SignedToolCall = ToolCall & { extra_content?: { google: { thought_signature: string } } };

function isOurs(detail: unknown): detail is { id?: unknown; data: string } {
  return (
    isObject(detail) &&
    detail["format"] === format &&
    typeof detail["data"] === "string" &&
    detail["data"] !== ""
  );
}

/** OpenRouter's name for this format. */
const format = "google-gemini-v1";

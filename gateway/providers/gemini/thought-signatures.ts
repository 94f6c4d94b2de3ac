import type { ChatMessage, ReasoningDetail, ToolCall } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";

/**
 * The signatures that come back with a message of the assistant.
 *
 * Gemini keeps nothing between requests. It seals what it thought into a `thoughtSignature`, on a text or on the first of
 * the calls it makes at once, and thinks on from there when it gets it back; since Gemini 3 it refuses calls that come
 * back without. https://ai.google.dev/gemini-api/docs/thought-signatures
 *
 * Clients drop what they do not know, so a signature goes to them in two places:
 * - `reasoning_details` of the message, as OpenRouter has it and tools made for it return it;
 * - `extra_content` of the call, as Google's own chat completions have it. OpenAI's libraries return it with the message,
 *   Vercel's does for a provider called `google`. https://ai.google.dev/gemini-api/docs/openai
 *
 * Every client returns the id of a call, and some gateways hide the signature there. It has hundreds of characters, often
 * thousands, where OpenAI takes 40 or 64 and Bedrock 64: after one call here the conversation could not go on with another
 * provider. https://github.com/BerriAI/litellm/issues/18160, https://github.com/agentgateway/agentgateway/issues/3342
 * So a client that drops both places goes on with `skippedSignature`.
 */
export class ThoughtSignatures {
  /** Of what the model said; null when it gave none or none came back. */
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
 * Google's word for calls whose signature is lost, or that another model made. The thoughts behind them are lost too.
 * https://ai.google.dev/gemini-api/docs/thought-signatures#faqs
 */
export const skippedSignature = "skip_thought_signature_validator";

/**
 * @param index its place among the details of the message
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

/** OpenRouter's name for it. */
const format = "google-gemini-v1";

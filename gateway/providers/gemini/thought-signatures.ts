import type { ChatMessage, ReasoningDetail, ToolCall } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";

/** `providers/README.md` describes the fields. https://ai.google.dev/gemini-api/docs/thought-signatures */
export class ThoughtSignatures {
  /** Null if the text has no signature. */
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

/** In place of a missing signature. https://ai.google.dev/gemini-api/docs/thought-signatures#faqs */
export const skippedSignature = "skip_thought_signature_validator";

/** @param callId null for the signature of a text */
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

/** OpenRouter's name for the format of Gemini's signatures. */
const format = "google-gemini-v1";

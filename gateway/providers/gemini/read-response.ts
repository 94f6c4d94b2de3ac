import type { ChatUsage } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import { upstreamReported } from "../upstream-reported.ts";

/**
 * Reads what a whole answer is, and each event of a stream: a GenerateContentResponse. Throws `upstreamReported(…)` for
 * one that reports an error. https://ai.google.dev/api/generate-content#generatecontentresponse
 */
export function readResponse(response: unknown): GenerateResponse {
  if (!isObject(response)) throw new Error("The response is not an object.");
  const { error, responseId } = response;
  if (isObject(error)) throw upstreamReported(error["message"]);
  const candidates = candidatesOf(response["candidates"]);
  return {
    candidates,
    refusal: candidates.length === 0 ? refusalOf(response["promptFeedback"]) : null,
    usage: readUsage(response["usageMetadata"]),
    responseId: typeof responseId === "string" ? responseId : null,
  };
}

export type GenerateResponse = {
  candidates: { index: number; candidate: Record<string, unknown> }[];
  /** Why nothing is answered, in words for the client; null when something is. */
  refusal: string | null;
  usage: ChatUsage | null;
  /** Null where Google gives none. */
  responseId: string | null;
};

/** Google's JSON leaves out what is 0, so an index that is missing is told by the place. */
function candidatesOf(candidates: unknown): GenerateResponse["candidates"] {
  if (!Array.isArray(candidates)) return [];
  return candidates.filter(isObject).map((candidate, place) => {
    const { index } = candidate;
    const isIndex = typeof index === "number" && Number.isInteger(index) && index >= 0;
    return { index: isIndex ? index : place, candidate };
  });
}

/** A prompt that is blocked gets no candidates. */
function refusalOf(feedback: unknown): string | null {
  const reason = isObject(feedback) ? feedback["blockReason"] : null;
  if (typeof reason !== "string" || reason === "BLOCK_REASON_UNSPECIFIED") return null;
  return `Google blocked the prompt: ${reason}.`;
}

/**
 * Gemini counts apart what OpenAI counts together: thoughts are no part of the candidates, nor results of Google's own
 * tools of the prompt; what came from a cache is. https://ai.google.dev/api/generate-content#UsageMetadata
 */
function readUsage(metadata: unknown): ChatUsage | null {
  if (!isObject(metadata)) return null;
  const promptTokens = countIn(metadata, "promptTokenCount") + countIn(metadata, "toolUsePromptTokenCount");
  const reasoningTokens = countIn(metadata, "thoughtsTokenCount");
  const completionTokens = countIn(metadata, "candidatesTokenCount") + reasoningTokens;
  // Some events have metadata without any count.
  if (promptTokens + completionTokens === 0) return null;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: countIn(metadata, "cachedContentTokenCount") },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}

/** Google's JSON leaves out what is 0. */
function countIn(metadata: Record<string, unknown>, name: string): number {
  const value = metadata[name];
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

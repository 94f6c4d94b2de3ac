import type { ChatUsage } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import { readCount, readTier, type UsageDetails, usageDetails } from "../../wire/token-usage.ts";
import { reportedError } from "../../wire/reported-error.ts";

/**
 * Parses a GenerateContentResponse: a whole response, or an event of a stream. Throws `upstreamReported(…)` for a
 * reported error.
 * https://ai.google.dev/api/generate-content#generatecontentresponse
 */
export function readResponse(response: unknown): GenerateResponse {
  if (!isObject(response)) throw new Error("The response is not an object.");
  const { error, responseId } = response;
  if (isObject(error)) throw reportedError(error);
  const candidates = candidatesOf(response["candidates"]);
  return {
    candidates,
    refusal: candidates.length === 0 ? refusalOf(response["promptFeedback"]) : null,
    usage: readUsage(response["usageMetadata"]),
    usageDetails: readDetails(response["usageMetadata"]),
    responseId: typeof responseId === "string" ? responseId : null,
  };
}

export type GenerateResponse = {
  candidates: { index: number; candidate: Record<string, unknown> }[];
  /** The reason for an empty response, as a message for the client. */
  refusal: string | null;
  usage: ChatUsage | null;
  usageDetails: UsageDetails | undefined;
  responseId: string | null;
};

/** Google's JSON omits zeros, so the position replaces a missing index. */
function candidatesOf(candidates: unknown): GenerateResponse["candidates"] {
  if (!Array.isArray(candidates)) return [];
  return candidates.filter(isObject).map((candidate, position) => {
    const { index } = candidate;
    const isIndex = typeof index === "number" && Number.isInteger(index) && index >= 0;
    return { index: isIndex ? index : position, candidate };
  });
}

function refusalOf(feedback: unknown): string | null {
  const reason = isObject(feedback) ? feedback["blockReason"] : null;
  if (typeof reason !== "string" || reason === "BLOCK_REASON_UNSPECIFIED") return null;
  return `Google blocked the prompt: ${reason}. Change the prompt.`;
}

/**
 * Converts Gemini's counts to OpenAI's. Gemini counts reasoning and the results of Google's own tools separately.
 * Cached tokens are part of the prompt. https://ai.google.dev/api/generate-content#UsageMetadata
 */
function readUsage(metadata: unknown): ChatUsage | null {
  if (!isObject(metadata)) return null;
  const promptTokens = countIn(metadata, "promptTokenCount") + countIn(metadata, "toolUsePromptTokenCount");
  const reasoningTokens = countIn(metadata, "thoughtsTokenCount");
  const completionTokens = countIn(metadata, "candidatesTokenCount") + reasoningTokens;
  // Some events have metadata but no counts.
  if (promptTokens + completionTokens === 0) return null;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: countIn(metadata, "cachedContentTokenCount") },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}

/** Google's JSON omits zeros, so a missing count is 0. */
function countIn(metadata: Record<string, unknown>, name: string): number {
  const value = metadata[name];
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

/**
 * Video tokens cost as much as image tokens. Vertex AI reports the tier as `trafficType`, such as `ON_DEMAND_PRIORITY`.
 * https://ai.google.dev/api/generate-content#ModalityTokenCount
 */
function readDetails(metadata: unknown): UsageDetails | undefined {
  if (!isObject(metadata)) return undefined;
  const {
    promptTokensDetails: prompt,
    cacheTokensDetails: cached,
    candidatesTokensDetails: output,
  } = metadata;
  const { serviceTier, trafficType } = metadata;
  const traffic = typeof trafficType === "string" ? trafficType.replace(/^ON_DEMAND_/, "") : trafficType;
  return usageDetails({
    imageInputTokens: tokensOf(prompt, "IMAGE") + tokensOf(prompt, "VIDEO"),
    cachedImageInputTokens: tokensOf(cached, "IMAGE") + tokensOf(cached, "VIDEO"),
    audioInputTokens: tokensOf(prompt, "AUDIO"),
    cachedAudioInputTokens: tokensOf(cached, "AUDIO"),
    imageOutputTokens: tokensOf(output, "IMAGE"),
    audioOutputTokens: tokensOf(output, "AUDIO"),
    serviceTier: readTier(serviceTier ?? traffic),
  });
}

function tokensOf(details: unknown, modality: string): number {
  const counts = Array.isArray(details) ? details.filter(isObject) : [];
  return counts.reduce(
    (sum, count) => sum + (count["modality"] === modality ? (readCount(count["tokenCount"]) ?? 0) : 0),
    0,
  );
}

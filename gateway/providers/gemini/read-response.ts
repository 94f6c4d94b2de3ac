import { type ChatUsage, isObject } from "../../wire/chat-completion.ts";
import { upstreamReported } from "../upstream-reported.ts";
import { readUsage } from "./read-usage.ts";

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

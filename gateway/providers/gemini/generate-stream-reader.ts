import type {
  ChatUsage,
  ChunkChoice,
  CompletionChoice,
  FinishReason,
  ImagePart,
  ReasoningDetail,
  ToolCall,
} from "../../wire/chat-completion.ts";
import type { UpstreamEvent } from "../../wire/server-sent-events.ts";
import { withoutChoices, upstreamReported } from "../../wire/bad-answer.ts";
import { readCount, readTier, type UsageDetails, usageDetails } from "../../wire/token-usage.ts";
import { parseEvent } from "../../wire/parse-upstream.ts";
import { reportedError } from "../../wire/reported-error.ts";
import type { ChatStreamReader, ChatAnswer } from "../provider.ts";
import { isObject, textOf } from "../../wire/json.ts";
import { type SignedToolCall, signCall, toReasoningDetail } from "./thought-signatures.ts";
import { createHash } from "node:crypto";

/**
 * Gemini's streams have no end marker, so a stream is finished when all known candidates are finished. A connection
 * that closes before the first event of another candidate is not detected.
 */
export class GenerateStreamReader implements ChatStreamReader {
  usage: ChatUsage | null = null;
  usageDetails: UsageDetails | undefined;
  readonly #candidates = new Map<number, CandidateReader>();
  #finishedCount = 0;
  #isRefused = false;

  get state(): "unfinished" | "finished" {
    const { size } = this.#candidates;
    const areFinished = size > 0 && this.#finishedCount === size;
    return this.#isRefused || areFinished ? "finished" : "unfinished";
  }

  read({ data }: UpstreamEvent): ChunkChoice[] {
    const { candidates, refusal, usage, usageDetails, responseId } = readResponse(parseEvent(data));
    this.usage = usage ?? this.usage;
    this.usageDetails = usageDetails ?? this.usageDetails;
    if (refusal !== null) return this.#refuse(refusal);
    return candidates.flatMap(({ index, candidate }) => {
      const reader = this.#readerOf(index);
      const { callCount, isFinished } = reader;
      const piece = reader.read(candidate, { index, responseId, usage: this.usage });
      if (!isFinished && reader.isFinished) this.#finishedCount++;
      return toChunkChoices(index, callCount, piece);
    });
  }

  #refuse(refusal: string): ChunkChoice[] {
    if (this.state === "finished") return [];
    this.#isRefused = true;
    return [{ index: 0, delta: { refusal }, finish_reason: "content_filter" }];
  }

  #readerOf(index: number): CandidateReader {
    const reader = this.#candidates.get(index) ?? new CandidateReader();
    this.#candidates.set(index, reader);
    return reader;
  }
}

function toChunkChoices(index: number, callsBefore: number, piece: CandidatePiece): ChunkChoice[] {
  const { text, thoughts, images, toolCalls, reasoningDetails, logprobs, finishReason } = piece;
  const calls = toolCalls.map((call, position) => ({ index: callsBefore + position, ...call }));
  const delta = {
    ...(thoughts !== "" && { reasoning_content: thoughts }),
    ...(text !== "" && { content: text }),
    ...(reasoningDetails.length > 0 && { reasoning_details: reasoningDetails }),
    ...(images.length > 0 && { images }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  if (Object.keys(delta).length === 0 && logprobs === null && finishReason === null) return [];
  return [{ index, delta, ...(logprobs !== null && { logprobs }), finish_reason: finishReason }];
}

/** Throws for a response without candidates or a finish reason, unless Google blocked the prompt. */
export function readGenerateAnswer(answer: unknown): ChatAnswer {
  const { candidates, refusal, usage, usageDetails, responseId } = readResponse(answer);
  const choices =
    refusal === null
      ? candidates.map(({ index, candidate }) =>
          toChoice(index, new CandidateReader().read(candidate, { index, responseId, usage })),
        )
      : [refusedChoice(refusal)];
  if (choices.length === 0) throw withoutChoices();
  return { choices, usage, usageDetails };
}

function toChoice(index: number, piece: CandidatePiece): CompletionChoice {
  const { text, thoughts, images, toolCalls, reasoningDetails, logprobs, finishReason } = piece;
  if (finishReason === null) throw new Error("The response has no finish reason.");
  return {
    index,
    message: {
      role: "assistant",
      content: text === "" && toolCalls.length > 0 ? null : text,
      refusal: null,
      ...(thoughts !== "" && { reasoning_content: thoughts }),
      ...(reasoningDetails.length > 0 && { reasoning_details: reasoningDetails }),
      ...(images.length > 0 && { images }),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    },
    logprobs,
    finish_reason: finishReason,
  };
}

function refusedChoice(refusal: string): CompletionChoice {
  return {
    index: 0,
    message: { role: "assistant", content: null, refusal },
    logprobs: null,
    finish_reason: "content_filter",
  };
}

type CandidatePiece = {
  text: string;
  thoughts: string;
  images: ImagePart[];
  toolCalls: SignedToolCall[];
  reasoningDetails: ReasoningDetail[];
  logprobs: object | null;
  /** Null except in the piece that ends the candidate. */
  finishReason: FinishReason | null;
};

/** Reads one candidate, whole or piece by piece. https://ai.google.dev/api/generate-content#candidate */
class CandidateReader {
  callCount = 0;
  isFinished = false;
  #detailCount = 0;

  /** Throws `upstreamReported(…)` for a failed candidate. */
  read(candidate: Record<string, unknown>, answer: AnswerIdentity): CandidatePiece {
    const piece: CandidatePiece = {
      text: "",
      thoughts: "",
      images: [],
      toolCalls: [],
      reasoningDetails: [],
      logprobs: readLogprobs(candidate["logprobsResult"]),
      finishReason: null,
    };
    for (const part of partsOf(candidate)) this.#readPart(part, answer, piece);
    if (!this.isFinished) {
      piece.finishReason = readFinishReason(candidate, this.callCount > 0);
      this.isFinished = piece.finishReason !== null;
    }
    return piece;
  }

  #readPart(part: Record<string, unknown>, answer: AnswerIdentity, piece: CandidatePiece): void {
    const { text, functionCall, inlineData, thoughtSignature } = part;
    const signature = textOf(thoughtSignature) || null;
    const call = this.#readCall(functionCall, answer);
    if (call) {
      piece.toolCalls.push(signature === null ? call : signCall(call, signature));
    } else if (typeof text === "string") {
      piece[part["thought"] === true ? "thoughts" : "text"] += text;
    } else if (part["thought"] !== true) piece.images.push(...readImage(inlineData));
    if (signature !== null) {
      piece.reasoningDetails.push(toReasoningDetail(signature, this.#detailCount++, call?.id ?? null));
    }
  }

  #readCall(value: unknown, answer: AnswerIdentity): ToolCall | null {
    if (!isObject(value) || typeof value["name"] !== "string") return null;
    const called = { name: value["name"], arguments: JSON.stringify(value["args"] ?? {}) };
    const callIndex = this.callCount++;
    const id = textOf(value["id"]) || toolCallId(answer, callIndex, called);
    return { id, type: "function", function: called };
  }
}

/** https://ai.google.dev/api/caching#Blob */
function readImage(blob: unknown): ImagePart[] {
  const { mimeType, data } = isObject(blob) ? blob : {};
  if (typeof mimeType !== "string" || typeof data !== "string" || !/^image\/[\w.+-]+$/.test(mimeType))
    return [];
  return [{ type: "image_url", image_url: { url: `data:${mimeType};base64,${data}` } }];
}

function partsOf(candidate: Record<string, unknown>): Record<string, unknown>[] {
  const content = candidate["content"];
  const parts: unknown = isObject(content) ? content["parts"] : null;
  return Array.isArray(parts) ? parts.filter(isObject) : [];
}

/**
 * Null while the candidate continues. Throws `upstreamReported(…)` for failures, such as OTHER, and unknown reasons.
 * https://ai.google.dev/api/generate-content#FinishReason
 */
function readFinishReason(candidate: Record<string, unknown>, hasToolCalls: boolean): FinishReason | null {
  const { finishReason: reason, finishMessage: message } = candidate;
  if (typeof reason !== "string" || reason === "FINISH_REASON_UNSPECIFIED") return null;
  if (reason === "STOP") return hasToolCalls ? "tool_calls" : "stop";
  const cut = cuts.get(reason);
  if (cut) return cut;
  throw upstreamReported(
    `The model failed with ${reason}${typeof message === "string" ? ` (${message})` : ""}. Retry the request.`,
  );
}

const cuts = new Map<string, FinishReason>([
  ["MAX_TOKENS", "length"],
  // Chat completions have no continuation token, so clients cannot continue the answer.
  ["CONTINUATION", "length"],
  ["SAFETY", "content_filter"],
  ["RECITATION", "content_filter"],
  ["LANGUAGE", "content_filter"],
  ["BLOCKLIST", "content_filter"],
  ["PROHIBITED_CONTENT", "content_filter"],
  ["SPII", "content_filter"],
  ["IMAGE_SAFETY", "content_filter"],
  ["IMAGE_PROHIBITED_CONTENT", "content_filter"],
  ["IMAGE_RECITATION", "content_filter"],
]);

/** https://ai.google.dev/api/generate-content#LogprobsResult */
function readLogprobs(result: unknown): object | null {
  const chosen = isObject(result) ? result["chosenCandidates"] : null;
  if (!isObject(result) || !Array.isArray(chosen)) return null;
  const { topCandidates: steps } = result;
  const content = chosen.map((token: unknown, index) => ({
    ...readToken(token),
    top_logprobs: readTop(Array.isArray(steps) ? steps[index] : null),
  }));
  return { content, refusal: null };
}

function readTop(step: unknown): TokenLogprob[] {
  const candidates = isObject(step) ? step["candidates"] : null;
  return Array.isArray(candidates) ? candidates.map(readToken) : [];
}

type TokenLogprob = { token: string; logprob: number; bytes: number[] | null };

/** Google's JSON omits zeros, so a missing log probability is 0. */
function readToken(value: unknown): TokenLogprob {
  const { token, logProbability } = isObject(value) ? value : {};
  const text = textOf(token);
  const logprob = typeof logProbability === "number" ? logProbability : 0;
  const bytes = text.length > tokenCharactersMax ? null : [...Buffer.from(text)];
  return { token: text, logprob, bytes };
}

/** A longer token has no bytes, because writing megabytes of numbers would delay other requests. */
const tokenCharactersMax = 256;

/** Older models send no call IDs. The hash includes the turn, so identical calls in two turns get different IDs. */
function toolCallId(answer: AnswerIdentity, callIndex: number, call: ToolCall["function"]): string {
  const turn = answer.responseId ?? answer.usage?.prompt_tokens ?? null;
  const source = JSON.stringify([turn, [answer.index, callIndex], call.name, call.arguments]);
  return `call_${createHash("sha256").update(source).digest("hex").slice(0, 24)}`;
}

/** Without a response ID, the prompt's token count identifies the turn, because the prompt grows with every turn. */
type AnswerIdentity = { index: number; responseId: string | null; usage: ChatUsage | null };

/**
 * Reads a whole response, or an event of a stream. Throws `upstreamReported(…)` for a reported error.
 * https://ai.google.dev/api/generate-content#generatecontentresponse
 */
function readResponse(response: unknown) {
  if (!isObject(response)) throw new Error("The response is not an object.");
  const { error, responseId } = response;
  if (isObject(error)) throw reportedError(error);
  const candidates = candidatesOf(response["candidates"]);
  return {
    candidates,
    /** The reason for an empty response, as a message for the client. */
    refusal: candidates.length === 0 ? refusalOf(response["promptFeedback"]) : null,
    usage: readUsage(response["usageMetadata"]),
    usageDetails: readDetails(response["usageMetadata"]),
    responseId: typeof responseId === "string" ? responseId : null,
  };
}

/** Google's JSON omits zeros, so the position replaces a missing index. */
function candidatesOf(candidates: unknown): { index: number; candidate: Record<string, unknown> }[] {
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

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
import type { UsageDetails } from "../../wire/token-usage.ts";
import { parseEvent } from "../../wire/parse-upstream.ts";
import type { ChatStreamReader, ChatAnswer } from "../provider.ts";
import { readResponse } from "./read-response.ts";
import { isObject } from "../../wire/json.ts";
import { type SignedToolCall, signCall, toReasoningDetail } from "./thought-signatures.ts";
import { createHash } from "node:crypto";

/**
 * Gemini's streams have no end marker, so a stream is finished when all known candidates are finished. A connection
 * that closes before the first event of another candidate is not detected.
 */
export class GenerateStreamReader implements ChatStreamReader {
  readonly #candidates = new Map<number, CandidateReader>();
  #finishedCount = 0;
  #usage: ChatUsage | null = null;
  #usageDetails: UsageDetails | undefined;
  #isRefused = false;

  get usage(): ChatUsage | null {
    return this.#usage;
  }

  get usageDetails(): UsageDetails | undefined {
    return this.#usageDetails;
  }

  get state(): "unfinished" | "finished" {
    const { size } = this.#candidates;
    const areFinished = size > 0 && this.#finishedCount === size;
    return this.#isRefused || areFinished ? "finished" : "unfinished";
  }

  read({ data }: UpstreamEvent): ChunkChoice[] {
    const { candidates, refusal, usage, usageDetails, responseId } = readResponse(parseEvent(data));
    this.#usage = usage ?? this.#usage;
    this.#usageDetails = usageDetails ?? this.#usageDetails;
    if (refusal !== null) return this.#refuse(refusal);
    const answer = { responseId, usage: this.#usage };
    return candidates.flatMap(({ index, candidate }) => {
      const reader = this.#readerOf(index);
      const { callCount, isFinished } = reader;
      const piece = reader.read(candidate, answer);
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
    const reader = this.#candidates.get(index) ?? new CandidateReader(index);
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
  const response = readResponse(answer);
  const { candidates, refusal, usage, usageDetails } = response;
  const choices =
    refusal === null
      ? candidates.map(({ index, candidate }) =>
          toChoice(index, new CandidateReader(index).read(candidate, response)),
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
  readonly #index: number;
  #callCount = 0;
  #detailCount = 0;
  #isFinished = false;

  constructor(index: number) {
    this.#index = index;
  }

  get callCount(): number {
    return this.#callCount;
  }

  get isFinished(): boolean {
    return this.#isFinished;
  }

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
    if (!this.#isFinished) {
      piece.finishReason = readFinishReason(candidate, this.#callCount > 0);
      this.#isFinished = piece.finishReason !== null;
    }
    return piece;
  }

  #readPart(part: Record<string, unknown>, answer: AnswerIdentity, piece: CandidatePiece): void {
    const { text, functionCall, inlineData, thoughtSignature } = part;
    const signature =
      typeof thoughtSignature === "string" && thoughtSignature !== "" ? thoughtSignature : null;
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
    const position: [number, number] = [this.#index, this.#callCount++];
    const id =
      typeof value["id"] === "string" && value["id"] !== ""
        ? value["id"]
        : toolCallId(answer, position, called);
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
 * Returns null while the candidate continues. Throws `upstreamReported(…)` for failures, such as
 * MALFORMED_FUNCTION_CALL or OTHER, and for unknown reasons.
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
  const text = typeof token === "string" ? token : "";
  const logprob = typeof logProbability === "number" ? logProbability : 0;
  const bytes = text.length > tokenCharactersMax ? null : [...Buffer.from(text)];
  return { token: text, logprob, bytes };
}

/** A longer token has no bytes, because writing megabytes of numbers would delay other requests. */
const tokenCharactersMax = 256;

/**
 * Older models send no call IDs. The hash includes the turn, so identical calls in two turns get different IDs.
 * @param position the candidate's index, then the call's index
 */
function toolCallId(
  answer: AnswerIdentity,
  position: [number, number],
  call: { name: string; arguments: string },
): string {
  const turn = answer.responseId ?? answer.usage?.prompt_tokens ?? null;
  const source = JSON.stringify([turn, position, call.name, call.arguments]);
  return `call_${createHash("sha256").update(source).digest("hex").slice(0, 24)}`;
}

/** Without a response ID, the prompt's token count identifies the turn, because the prompt grows with every turn. */
type AnswerIdentity = { responseId: string | null; usage: ChatUsage | null };

import type { ChatUsage, ChunkChoice, CompletionChoice } from "../../wire/chat-completion.ts";
import type { UpstreamEvent } from "../../wire/server-sent-events.ts";
import { withoutChoices } from "../../wire/bad-answer.ts";
import type { UsageDetails } from "../../wire/token-usage.ts";
import { parseEvent } from "../../wire/parse-upstream.ts";
import type { ChatStreamReader, ChatAnswer } from "../provider.ts";
import { type CandidatePiece, CandidateReader } from "./candidate-reader.ts";
import { readResponse } from "./read-response.ts";

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

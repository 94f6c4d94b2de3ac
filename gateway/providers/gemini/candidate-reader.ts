import {
  type FinishReason,
  isObject,
  type ReasoningDetail,
  type ToolCall,
} from "../../wire/chat-completion.ts";
import { readFinishReason } from "./read-finish-reason.ts";
import { readLogprobs } from "./read-logprobs.ts";
import { type SignedToolCall, signCall, toReasoningDetail } from "./thought-signatures.ts";
import { type AnswerIdentity, toolCallId } from "./tool-call-id.ts";

/** What one candidate says in an answer, or in one event of a stream. */
export type CandidatePiece = {
  text: string;
  thoughts: string;
  /** Always whole ones. */
  toolCalls: SignedToolCall[];
  reasoningDetails: ReasoningDetail[];
  logprobs: object | null;
  /** Null while it is not at its end, and in pieces after that. */
  finishReason: FinishReason | null;
};

/** Reads one candidate, all at once or piece by piece. https://ai.google.dev/api/generate-content#candidate */
export class CandidateReader {
  readonly #index: number;
  #callCount = 0;
  #detailCount = 0;
  #isFinished = false;

  constructor(index: number) {
    this.#index = index;
  }

  /** How many tools it has called so far. */
  get callCount(): number {
    return this.#callCount;
  }

  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** Throws `upstreamReported(…)` for an end that is a failure. */
  read(candidate: Record<string, unknown>, answer: AnswerIdentity): CandidatePiece {
    const piece: CandidatePiece = {
      text: "",
      thoughts: "",
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

  /** Parts of other kinds belong to Google's own tools and to media, for which no request asks. */
  #readPart(part: Record<string, unknown>, answer: AnswerIdentity, piece: CandidatePiece): void {
    const { text, functionCall, thoughtSignature } = part;
    const signature =
      typeof thoughtSignature === "string" && thoughtSignature !== "" ? thoughtSignature : null;
    const call = this.#readCall(functionCall, answer);
    if (call) {
      piece.toolCalls.push(signature === null ? call : signCall(call, signature));
    } else if (typeof text === "string") {
      piece[part["thought"] === true ? "thoughts" : "text"] += text;
    }
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

function partsOf(candidate: Record<string, unknown>): Record<string, unknown>[] {
  const content = candidate["content"];
  const parts: unknown = isObject(content) ? content["parts"] : null;
  return Array.isArray(parts) ? parts.filter(isObject) : [];
}

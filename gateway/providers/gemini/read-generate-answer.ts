import type { CompletionChoice } from "../../wire/chat-completion.ts";
import type { ChatAnswer } from "../provider.ts";
import { type CandidatePiece, CandidateReader } from "./candidate-reader.ts";
import { readResponse } from "./read-response.ts";

/** Parses a whole response. Throws if it has no finish reason. */
export function readGenerateAnswer(answer: unknown): ChatAnswer {
  const response = readResponse(answer);
  const { candidates, refusal, usage, usageDetails } = response;
  const choices =
    refusal === null
      ? candidates.map(({ index, candidate }) =>
          toChoice(index, new CandidateReader(index).read(candidate, response)),
        )
      : [refusedChoice(refusal)];
  if (choices.length === 0) throw new Error("The response has no candidates.");
  return { choices, usage, usageDetails };
}

function toChoice(index: number, piece: CandidatePiece): CompletionChoice {
  const { text, thoughts, toolCalls, reasoningDetails, logprobs, finishReason } = piece;
  if (finishReason === null) throw new Error("The response has no finish reason.");
  return {
    index,
    message: {
      role: "assistant",
      content: text === "" && toolCalls.length > 0 ? null : text,
      refusal: null,
      ...(thoughts !== "" && { reasoning_content: thoughts }),
      ...(reasoningDetails.length > 0 && { reasoning_details: reasoningDetails }),
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

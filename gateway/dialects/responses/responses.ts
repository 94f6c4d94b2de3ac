import {
  type Dialect,
  type ShownError,
  type StreamWriter,
  type DroppedMembers,
  listDropped,
} from "../dialect.ts";
import { formatAnswer } from "./format-answer.ts";
import { nativeResponses } from "./native-responses.ts";
import { readResponsesRequest } from "./read-responses-request.ts";
import { ResponseStreamWriter } from "./response-stream-writer.ts";
import { isToolOmitted } from "./tools.ts";
import { toChatRequest } from "./to-chat-request.ts";

/** OpenAI's Responses API, mainly for Codex. https://platform.openai.com/docs/api-reference/responses */
export const responses: Dialect = {
  endpointName: "responses",
  readRequest: readResponsesRequest,
  toChatRequest,
  droppedIn: ({ body }) => listDropped(body, dropped),
  clientParams: {
    max_completion_tokens: "max_output_tokens",
    reasoning_effort: "reasoning.effort",
    response_format: "text.format",
    verbosity: "text.verbosity",
    logprobs: "include",
  },
  formatAnswer,
  createStreamWriter: (envelope, request) => new ResponseStreamWriter(envelope, request),
  native: nativeResponses,
  formatError,
  formatErrorEvent,
};

const dropped: DroppedMembers = {
  members: ["context_management", "max_tool_calls", "truncation"],
  isToolDropped: isToolOmitted,
};

/** https://platform.openai.com/docs/guides/error-codes */
function formatError({ message, type, param, code }: ShownError): object {
  return { error: { message, type, param, code } };
}

/** For a native stream, the event count and the response's ID, time and model are unknown here. */
function formatErrorEvent(error: ShownError, writer: StreamWriter | null): string {
  if (writer instanceof ResponseStreamWriter) return writer.fail(error);
  const envelope = {
    id: error.requestId,
    createdSeconds: 0,
    nowSeconds: () => 0,
    slug: "",
    estimateInputTokens: () => 0,
    previousResponseId: null,
    keep: null,
  };
  return new ResponseStreamWriter(envelope, { body: {} }).fail(error);
}

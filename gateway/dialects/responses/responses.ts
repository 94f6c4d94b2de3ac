import type { Dialect } from "../dialect.ts";
import { formatAnswer } from "./format-answer.ts";
import { formatError, formatErrorEvent } from "./format-error.ts";
import { nativeResponses } from "./native-responses.ts";
import { readResponsesRequest } from "./read-responses-request.ts";
import { ResponseStreamWriter } from "./response-stream-writer.ts";
import { toChatRequest } from "./to-chat-request.ts";

/** OpenAI's Responses API, above all for Codex. https://platform.openai.com/docs/api-reference/responses */
export const responses: Dialect = {
  endpointName: "responses",
  readRequest: readResponsesRequest,
  toChatRequest,
  formatAnswer,
  createStreamWriter: (envelope, request) => new ResponseStreamWriter(envelope, request),
  native: nativeResponses,
  formatError,
  formatErrorEvent,
};

import type { Dialect, ShownError } from "../dialect.ts";
import { type DroppedMembers, listDropped } from "../dropped.ts";
import { formatAnswer } from "./format-answer.ts";
import { MessageStreamWriter } from "./message-stream-writer.ts";
import { nativeMessages } from "./native-messages.ts";
import { readMessagesRequest } from "./read-messages-request.ts";
import { toChatRequest } from "./to-chat-request.ts";
import { findTypedTool } from "./typed-tools.ts";

/** Anthropic's Messages API, mainly for Claude Code. https://platform.claude.com/docs/en/api/messages/create */
export const messages: Dialect = {
  endpointName: "messages",
  readRequest: readMessagesRequest,
  toChatRequest,
  droppedIn: ({ body }) => listDropped(body, dropped),
  clientParams: {
    max_completion_tokens: "max_tokens",
    stop: "stop_sequences",
    reasoning_effort: "output_config.effort",
    response_format: "output_config.format",
    parallel_tool_calls: "tool_choice.disable_parallel_tool_use",
    user: "metadata.user_id",
  },
  formatAnswer,
  createStreamWriter: (envelope, request) => new MessageStreamWriter(envelope, request),
  native: nativeMessages,
  formatError,
  formatErrorEvent,
};

const dropped: DroppedMembers = {
  members: ["mcp_servers", "container", "context_management", "fallbacks", "safeguards"],
  isToolDropped: ({ type }) => typeof type === "string" && type !== "custom" && findTypedTool(type) === null,
};

/** https://platform.claude.com/docs/en/api/errors */
function formatError({ status, message, details, requestId }: ShownError): object {
  const type = types.get(status) ?? (status >= 500 && status < 600 ? "api_error" : "invalid_request_error");
  return { type: "error", error: { type, message, ...(details && { details }) }, request_id: requestId };
}

/** https://platform.claude.com/docs/en/build-with-claude/streaming#error-events */
function formatErrorEvent(error: ShownError): string {
  return `event: error\ndata: ${JSON.stringify(formatError(error))}\n\n`;
}

const types = new Map([
  [401, "authentication_error"],
  [402, "billing_error"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [413, "request_too_large"],
  [429, "rate_limit_error"],
  [503, "overloaded_error"],
  [504, "timeout_error"],
  [529, "overloaded_error"],
]);

import type { Dialect } from "../dialect.ts";
import { formatAnswer } from "./format-answer.ts";
import { formatError, formatErrorEvent } from "./format-error.ts";
import { MessageStreamWriter } from "./message-stream-writer.ts";
import { nativeMessages } from "./native-messages.ts";
import { readMessagesRequest } from "./read-messages-request.ts";
import { toChatRequest } from "./to-chat-request.ts";

/** Anthropic's Messages API, above all for Claude Code. https://platform.claude.com/docs/en/api/messages/create */
export const messages: Dialect = {
  endpointName: "messages",
  readRequest: readMessagesRequest,
  toChatRequest,
  formatAnswer,
  createStreamWriter: (envelope, request) => new MessageStreamWriter(envelope, request),
  native: nativeMessages,
  formatError,
  formatErrorEvent,
};

import type { Dialect, ShownError } from "../dialect.ts";
import { ChatStreamWriter } from "./chat-stream-writer.ts";
import { nativeChat } from "./native-chat.ts";
import { type ChatRequest, readChatRequest } from "./read-chat-request.ts";

/** OpenAI's chat completions, which are also the gateway's internal form. https://platform.openai.com/docs/api-reference/chat */
export const chat: Dialect<ChatRequest> = {
  endpointName: "chat/completions",
  readRequest: readChatRequest,
  droppedIn: () => null,
  clientParams: {},
  toChatRequest: ({ body }) => body,
  formatAnswer: ({ choices, usage }, { id, createdSeconds, slug }) => ({
    id: `chatcmpl-${id}`,
    object: "chat.completion",
    created: createdSeconds,
    model: slug,
    choices,
    ...(usage !== null && { usage }),
  }),
  createStreamWriter: (envelope, { includeUsage }) => new ChatStreamWriter(envelope, includeUsage),
  native: nativeChat,
  formatError,
  formatErrorEvent: (error) => `data: ${JSON.stringify(formatError(error))}\n\n`,
};

/** OpenAI's error format, with all four members. */
function formatError({ message, type, param, code }: ShownError): object {
  return { error: { message, type, param, code } };
}

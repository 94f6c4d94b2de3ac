import {
  type ChatUsage,
  type ChunkChoice,
  type CompletionChoice,
  isObject,
} from "../../wire/chat-completion.ts";
import { applyQuirks, type ChatQuirks } from "../../wire/chat-quirks.ts";
import type { UpstreamEvent } from "../../wire/event-decoder.ts";
import { ServerSentEventDecoder } from "../../wire/server-sent-events.ts";
import type { ChatAnswer, ChatApi, ChatStreamReader, Endpoint } from "../provider.ts";
import { upstreamReported } from "../upstream-reported.ts";
import { readChatChoice } from "./read-chat-choice.ts";
import { toPlainChat } from "./to-plain-chat.ts";

/** An upstream that speaks chat completions: natively for clients that do, too, and translated for all others. */
export function chatCompletionsApi(endpoint: Endpoint, quirks: ChatQuirks): ChatApi {
  return {
    endpoint,
    streamEndpoint: endpoint,
    quirks,
    buildRequest(body, model) {
      const request = { ...applyQuirks(toPlainChat(body, model, quirks), quirks), model: model.name };
      return body.stream === true ? { ...request, stream_options: { include_usage: true } } : request;
    },
    readAnswer,
    streamContentType: "text/event-stream",
    createDecoder: (eventBytesMax) => new ServerSentEventDecoder(eventBytesMax),
    createStreamReader: () => new ChunkReader(),
  };
}

function readAnswer(answer: unknown): ChatAnswer {
  if (!isObject(answer) || !Array.isArray(answer["choices"])) throw new Error("This is no chat completion.");
  const choices = answer["choices"].map((choice: unknown) => readChatChoice(choice, "message"));
  return { choices: choices as CompletionChoice[], usage: readUsage(answer["usage"]) };
}

class ChunkReader implements ChatStreamReader {
  usage: ChatUsage | null = null;
  state: ChatStreamReader["state"] = "unfinished";

  read({ data }: UpstreamEvent): ChunkChoice[] {
    if (data.trim() === "[DONE]") {
      this.state = "ended";
      return [];
    }
    const chunk: unknown = JSON.parse(data);
    if (!isObject(chunk)) throw new Error("This is no chunk.");
    const { error, usage, choices } = chunk;
    if (error !== undefined && error !== null) {
      throw upstreamReported(isObject(error) ? error["message"] : error);
    }
    this.usage = readUsage(usage) ?? this.usage;
    if (!Array.isArray(choices)) return [];
    return choices.map((choice: unknown) => readChatChoice(choice, "delta")) as ChunkChoice[];
  }
}

/** Counts as they are, as far as they are counts. */
function readUsage(usage: unknown): ChatUsage | null {
  if (!isObject(usage) || typeof usage["prompt_tokens"] !== "number") return null;
  return { completion_tokens: 0, total_tokens: 0, ...usage } as ChatUsage;
}

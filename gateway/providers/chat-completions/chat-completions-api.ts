import {
  type ChatUsage,
  type ChunkChoice,
  type CompletionChoice,
  type ChatQuirks,
  applyQuirks,
} from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import { readChatDetails, type UsageDetails } from "../../wire/token-usage.ts";
import { type UpstreamEvent, ServerSentEventDecoder } from "../../wire/server-sent-events.ts";
import type { ChatAnswer, ChatApi, ChatStreamReader, Endpoint } from "../provider.ts";
import { upstreamReported } from "../../wire/bad-answer.ts";
import { parseEvent } from "../../wire/parse-upstream.ts";
import { toPlainChat } from "./to-plain-chat.ts";

/** Translates requests in other dialects. Chat completions requests need no translation. */
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
  if (!isObject(answer) || !Array.isArray(answer["choices"]))
    throw new Error("The response is not a chat completion.");
  const choices = answer["choices"].map((choice: unknown) => readChatChoice(choice, "message"));
  const { usage, service_tier: serviceTier } = answer;
  return {
    choices: choices as CompletionChoice[],
    usage: readUsage(usage),
    usageDetails: isObject(usage) ? readChatDetails(usage, serviceTier) : undefined,
  };
}

class ChunkReader implements ChatStreamReader {
  usage: ChatUsage | null = null;
  usageDetails: UsageDetails | undefined;
  state: ChatStreamReader["state"] = "unfinished";

  read({ data }: UpstreamEvent): ChunkChoice[] {
    if (data.trim() === "[DONE]") {
      this.state = "ended";
      return [];
    }
    const { error, usage, choices, service_tier: serviceTier } = parseEvent(data);
    if (error !== undefined && error !== null) {
      throw upstreamReported(isObject(error) ? error["message"] : error);
    }
    this.usage = readUsage(usage) ?? this.usage;
    if (isObject(usage)) this.usageDetails = readChatDetails(usage, serviceTier);
    if (!Array.isArray(choices)) return [];
    return choices.map((choice: unknown) => readChatChoice(choice, "delta")) as ChunkChoice[];
  }
}

function readUsage(usage: unknown): ChatUsage | null {
  if (!isObject(usage) || typeof usage["prompt_tokens"] !== "number") return null;
  return { completion_tokens: 0, total_tokens: 0, ...usage } as ChatUsage;
}

/**
 * Normalizes a choice: text content, reasoning in `reasoning_content`, call arguments as JSON text. Throws
 * `upstreamReported(…)` for a reported failure, and another error for a malformed choice.
 */
function readChatChoice(choice: unknown, name: "message" | "delta"): object {
  if (!isObject(choice)) throw new Error("The choice is malformed.");
  const { finish_reason: finishReason, error } = choice;
  if (finishReason === "error" || finishReason === "insufficient_system_resource") {
    throw upstreamReported(isObject(error) ? error["message"] : error);
  }
  // Azure sends content filter results in choices without a delta.
  const message = choice[name] ?? (name === "delta" ? {} : null);
  if (!isObject(message)) throw new Error(`The choice has no ${name}.`);
  return {
    ...choice,
    // Mistral returns `model_length` for a full context.
    ...(finishReason === "model_length" && { finish_reason: "length" }),
    [name]: readMessage(message),
  };
}

function readMessage({
  content,
  refusal,
  reasoning,
  reasoning_content: own,
  ...message
}: Record<string, unknown>) {
  const { tool_calls: calls, ...rest } = message;
  // OpenRouter, Groq and newer vLLM send `reasoning`. Mistral sends reasoning as a content part.
  const thoughts = toText(own) || toText(reasoning) || toText(content, "thinking");
  return {
    ...rest,
    ...(content !== undefined && { content: toText(content) }),
    ...(refusal !== undefined && { refusal: toText(refusal) }),
    ...(thoughts !== "" && { reasoning_content: thoughts }),
    ...(Array.isArray(calls) && { tool_calls: calls.flatMap(readCall) }),
  };
}

/** Joins the parts of this type. A string counts as text. Mistral sends parts in responses with reasoning. */
function toText(value: unknown, type: "text" | "thinking" = "text"): string {
  if (typeof value === "string") return type === "text" ? value : "";
  if (!Array.isArray(value)) return "";
  return value
    .map((part: unknown) => (isObject(part) && part["type"] === type ? toText(part[type]) : ""))
    .join("");
}

/** OpenAI sends arguments as a string, but some upstreams omit the arguments or send an object. */
function readCall(call: unknown): object[] {
  if (!isObject(call) || !isObject(call["function"])) return [];
  const { arguments: args, ...fn } = call["function"];
  return [{ ...call, function: { ...fn, arguments: isObject(args) ? JSON.stringify(args) : toText(args) } }];
}

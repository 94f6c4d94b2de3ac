import {
  type ChatUsage,
  type ChunkChoice,
  type CompletionChoice,
  type ChatQuirks,
  applyQuirks,
  readFinishReason,
  type ChunkDelta,
} from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import { readChatDetails, type UsageDetails } from "../../wire/token-usage.ts";
import { type UpstreamEvent, ServerSentEventDecoder } from "../../wire/server-sent-events.ts";
import type { ChatAnswer, ChatApi, ChatStreamReader, Endpoint } from "../provider.ts";
import { withoutChoices, badAnswer } from "../../wire/bad-answer.ts";
import { findReportedError, reportedError } from "../../wire/reported-error.ts";
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
  if (!isObject(answer)) throw new Error("The response is not a chat completion.");
  const { error } = answer;
  if (!Array.isArray(answer["choices"]) || answer["choices"].length === 0) {
    throw (isObject(error) ? findReportedError(answer) : null) ?? withoutChoices();
  }
  const choices = answer["choices"].map((choice: unknown) => readChatChoice(choice, "message"));
  const { usage, service_tier: serviceTier } = answer;
  return {
    choices: choices as CompletionChoice[],
    usage: readUsage(usage),
    usageDetails: isObject(usage) ? readChatDetails(usage, serviceTier) : undefined,
  };
}

class ChunkReader implements ChatStreamReader {
  usage: Partial<ChatUsage> | null = null;
  usageDetails: UsageDetails | undefined;
  state: ChatStreamReader["state"] = "unfinished";
  /** The indexes of all choices, and of those with a finish reason. */
  readonly #seen = new Set<number>();
  readonly #finished = new Set<number>();
  readonly #calls = new NamedCalls();

  read({ data }: UpstreamEvent): ChunkChoice[] {
    if (data.trim() === "[DONE]") {
      this.state = "ended";
      return [];
    }
    const { error, usage, choices, service_tier: serviceTier } = parseEvent(data);
    if (error !== undefined && error !== null) {
      throw reportedError(error, "mid-stream");
    }
    this.usage = readUsage(usage) ?? this.usage;
    if (isObject(usage)) this.usageDetails = readChatDetails(usage, serviceTier);
    if (!Array.isArray(choices)) return [];
    const read = choices.map((choice: unknown) => readChatChoice(choice, "delta")) as ChunkChoice[];
    for (const choice of read) this.#calls.read(choice);
    for (const { index, finish_reason: reason } of read) {
      if (this.#finished.has(index)) continue;
      this.#seen.add(index);
      if (reason !== null) this.#finished.add(index);
      // Some upstreams omit `[DONE]`, so a stream is finished when all known choices are.
      this.state = this.#finished.size === this.#seen.size ? "finished" : "unfinished";
    }
    return read;
  }
}

/** Omits counts without a number, such as null. */
function readUsage(usage: unknown): Partial<ChatUsage> | null {
  if (!isObject(usage)) return null;
  const counts = Object.entries(usage).filter(
    ([name, value]) => !countNames.has(name) || typeof value === "number",
  );
  return Object.fromEntries(counts);
}

const countNames = new Set(["prompt_tokens", "completion_tokens", "total_tokens"]);

/**
 * Normalizes a choice: text content, reasoning in `reasoning_content`, call arguments as JSON text. Throws
 * `upstreamReported(…)` for a reported failure, and another error for a malformed choice.
 */
function readChatChoice(choice: unknown, name: "message" | "delta"): object {
  if (!isObject(choice)) throw new Error("The choice is malformed.");
  const { stop_reason: stop, matched_stop: matched, ...rest } = choice;
  const finishReason = readFinishReason(choice);
  // Azure sends content filter results in choices without a delta.
  const message = choice[name] ?? (name === "delta" ? {} : null);
  if (!isObject(message)) throw new Error(`The choice has no ${name}.`);
  // vLLM and SGLang name the matched stop sequence, or the number of a stop token.
  const sequence =
    [stop, matched].find((text) => typeof text === "string") ??
    (choice["finish_reason"] === "stop_sequence" ? null : undefined);
  return {
    ...rest,
    finish_reason: finishReason,
    ...(sequence !== undefined && finishReason === "stop" && { stop_sequence: sequence }),
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
  const { tool_calls: several, function_call: only, ...rest } = message;
  // Older servers send one call in `function_call`.
  const calls = several ?? (isObject(only) ? [{ index: 0, type: "function", function: only }] : undefined);
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

type CallPiece = NonNullable<ChunkDelta["tool_calls"]>[number];

/** Puts each call's name first, like other APIs. Some servers stream the arguments before the name. */
class NamedCalls {
  /** The calls whose name has arrived, and the joined pieces of the others, by choice and index. */
  readonly #named = new Set<string>();
  readonly #nameless = new Map<string, CallPiece>();
  #characters = 0;

  read(choice: ChunkChoice): void {
    const { delta, finish_reason: reason, index = 0 } = choice;
    const pieces = delta.tool_calls;
    if (pieces === undefined && (reason === null || this.#nameless.size === 0)) return;
    const ready = (pieces ?? []).flatMap((piece, position) =>
      this.#take(`${index} ${piece.index ?? position}`, piece),
    );
    // A call that never gets a name is for the dialect to report.
    const left = reason === null ? [] : this.#leftOf(index);
    if (ready.length + left.length > 0) delta.tool_calls = [...ready, ...left];
    else delete delta.tool_calls;
  }

  #take(key: string, piece: CallPiece): CallPiece[] {
    if (this.#named.has(key)) return [piece];
    const earlier = this.#nameless.get(key);
    const joined = earlier === undefined ? piece : join(earlier, piece);
    if (piece.function.name) {
      this.#named.add(key);
      this.#nameless.delete(key);
      return [joined];
    }
    this.#characters += piece.function.arguments.length;
    if (this.#characters > namelessCharactersMax) throw badAnswer("a tool call without a name");
    this.#nameless.set(key, joined);
    return [];
  }

  #leftOf(index: number): CallPiece[] {
    const keys = [...this.#nameless.keys()].filter((key) => key.startsWith(`${index} `));
    return keys.flatMap((key) => {
      const piece = this.#nameless.get(key);
      this.#nameless.delete(key);
      return piece ?? [];
    });
  }
}

function join(earlier: CallPiece, piece: CallPiece): CallPiece {
  const args = earlier.function.arguments + piece.function.arguments;
  return { ...earlier, ...piece, function: { ...piece.function, arguments: args } };
}

const namelessCharactersMax = 1024 * 1024;

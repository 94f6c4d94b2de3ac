import type {
  AssistantMessage,
  ChatUsage,
  ChunkChoice,
  ChunkDelta,
  FinishReason,
  ReasoningDetail,
  ToolCall,
} from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import type { UpstreamEvent } from "../../wire/server-sent-events.ts";
import { readCount, readTerm, readTier, type UsageDetails, usageDetails } from "../../wire/token-usage.ts";
import type { ChatAnswer, ChatStreamReader } from "../provider.ts";
import { upstreamReported } from "../../wire/bad-answer.ts";
import { reportedError } from "../../wire/reported-error.ts";
import { parseEvent } from "../../wire/parse-upstream.ts";
import type { ModelFamily } from "./model-family.ts";
import { formatOf } from "./reasoning-details.ts";

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStreamOutput.html */
export class ConverseStreamReader implements ChatStreamReader {
  usage: ChatUsage | null = null;
  usageDetails: UsageDetails | undefined;
  state: ChatStreamReader["state"] = "unfinished";
  readonly #family: ModelFamily;
  /** The open tool calls, by block index. */
  readonly #openCalls = new Map<unknown, { index: number; hasArguments: boolean }>();
  #callCount = 0;
  /** The `contentBlockIndex` of the latest reasoning block. */
  #thoughtBlock: unknown = null;
  #thoughtIndex = -1;

  constructor(family: ModelFamily) {
    this.#family = family;
  }

  read({ name, data }: UpstreamEvent): ChunkChoice[] {
    switch (name) {
      case "contentBlockStart":
        return this.#startBlock(parseEvent(data));
      case "contentBlockDelta":
        return this.#readDelta(parseEvent(data));
      case "contentBlockStop":
        return this.#endBlock(parseEvent(data));
      case "messageStop":
        return this.#finish(parseEvent(data));
      case "metadata":
        return this.#end(parseEvent(data));
      default:
        if (/(exception|error)$/i.test(name)) {
          throw reportedError({ ...parseEvent(data), __type: name }, "mid-stream");
        }
        return [];
    }
  }

  #startBlock({ contentBlockIndex: block, start }: Fields): ChunkChoice[] {
    const [call] = readToolCall(isObject(start) ? start["toolUse"] : null);
    if (call === undefined) return [];
    const index = this.#callCount++;
    this.#openCalls.set(block, { index, hasArguments: false });
    const { name } = call.function;
    return says({ tool_calls: [{ index, ...call, function: { name, arguments: "" } }] });
  }

  #readDelta({ contentBlockIndex: block, delta }: Fields): ChunkChoice[] {
    if (!isObject(delta)) return [];
    const { text, toolUse, reasoningContent } = delta;
    if (isObject(reasoningContent)) return this.#readThought(block, reasoningContent);
    if (isObject(toolUse)) return this.#readArguments(block, toolUse["input"]);
    return typeof text === "string" && text !== "" ? says({ content: text }) : [];
  }

  #readArguments(block: unknown, json: unknown): ChunkChoice[] {
    const call = this.#openCalls.get(block);
    if (!call || typeof json !== "string" || json === "") return [];
    call.hasArguments = true;
    return says({ tool_calls: [{ index: call.index, function: { arguments: json } }] });
  }

  #readThought(block: unknown, { text, signature, redactedContent: data }: Fields): ChunkChoice[] {
    if (block !== this.#thoughtBlock) this.#thoughtIndex++;
    this.#thoughtBlock = block;
    if (typeof text === "string" && text !== "") {
      return says({
        reasoning_content: text,
        reasoning_details: [this.#detail("reasoning.text", { text })],
      });
    }
    if (typeof signature === "string") {
      return says({ reasoning_details: [this.#detail("reasoning.text", { signature })] });
    }
    if (typeof data !== "string") return [];
    return says({ reasoning_details: [this.#detail("reasoning.encrypted", { data })] });
  }

  #detail(type: ReasoningDetail["type"], piece: Partial<ReasoningDetail>): ReasoningDetail {
    return { type, format: formatOf(type, this.#family), index: this.#thoughtIndex, ...piece };
  }

  /** Sends `{}` for a call without arguments, because clients cannot parse an empty string. */
  #endBlock({ contentBlockIndex: block }: Fields): ChunkChoice[] {
    const call = this.#openCalls.get(block);
    this.#openCalls.delete(block);
    if (!call || call.hasArguments) return [];
    return says({ tool_calls: [{ index: call.index, function: { arguments: "{}" } }] });
  }

  #finish(stop: Fields): ChunkChoice[] {
    if (this.state !== "unfinished") return [];
    const finishReason = readStopReason(stop["stopReason"], this.#callCount > 0);
    this.state = "finished";
    return [{ index: 0, delta: {}, finish_reason: finishReason, ...readStopSequence(stop) }];
  }

  #end(metadata: Fields): ChunkChoice[] {
    this.usage = readConverseUsage(metadata["usage"]) ?? this.usage;
    this.usageDetails = readConverseDetails(metadata);
    if (this.state === "finished") this.state = "ended";
    return [];
  }
}

type Fields = Record<string, unknown>;

function says(delta: ChunkDelta): ChunkChoice[] {
  return [{ index: 0, delta, finish_reason: null }];
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html#API_runtime_Converse_ResponseSyntax */
export function readConverseAnswer(answer: unknown, family: ModelFamily): ChatAnswer {
  if (!isObject(answer) || !isObject(answer["output"]) || !isObject(answer["output"]["message"])) {
    throw new Error("The Converse response is malformed.");
  }
  const { content } = answer["output"]["message"];
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  const text = blocks.map(textOf).join("");
  const thoughts = blocks.flatMap((block) => readThought(block["reasoningContent"], family));
  const reasoning = thoughts.map(({ text: thought }) => thought ?? "").join("");
  const toolCalls = blocks.flatMap((block) => readToolCall(block["toolUse"]));
  const message: AssistantMessage = {
    role: "assistant",
    content: text === "" ? null : text,
    refusal: null,
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(thoughts.length > 0 && {
      reasoning_details: thoughts.map((thought, index) => ({ ...thought, index })),
    }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
  };
  const finishReason = readStopReason(answer["stopReason"], toolCalls.length > 0);
  return {
    choices: [
      { index: 0, message, logprobs: null, finish_reason: finishReason, ...readStopSequence(answer) },
    ],
    usage: readConverseUsage(answer["usage"]),
    usageDetails: readConverseDetails(answer),
  };
}

/** Claude names the sequence in a field that the request can ask for. */
function readStopSequence(stop: Record<string, unknown>): { stop_sequence?: string | null } {
  if (stop["stopReason"] !== "stop_sequence") return {};
  const fields = stop["additionalModelResponseFields"];
  const sequence = isObject(fields) ? fields["stop_sequence"] : null;
  return { stop_sequence: typeof sequence === "string" ? sequence : null };
}

function textOf({ text, citationsContent: cited }: Record<string, unknown>): string {
  if (typeof text === "string") return text;
  if (!isObject(cited) || !Array.isArray(cited["content"])) return "";
  return cited["content"].filter(isObject).map(textOf).join("");
}

function readThought(thought: unknown, family: ModelFamily): ReasoningDetail[] {
  if (!isObject(thought)) return [];
  const { redactedContent: data, reasoningText: spoken } = thought;
  if (typeof data === "string") {
    return [{ type: "reasoning.encrypted", format: formatOf("reasoning.encrypted", family), data }];
  }
  if (!isObject(spoken)) return [];
  const { text, signature } = spoken;
  const format = formatOf("reasoning.text", family);
  return [
    {
      type: "reasoning.text",
      format,
      text: typeof text === "string" ? text : "",
      ...(typeof signature === "string" && { signature }),
    },
  ];
}

/** Omits calls of tools that Bedrock runs itself. */
function readToolCall(call: unknown): ToolCall[] {
  if (!isObject(call) || call["type"] === "server_tool_use") return [];
  const { toolUseId: id, name, input } = call;
  if (typeof id !== "string" || typeof name !== "string") throw new Error("The tool call is malformed.");
  // Some models send the JSON as a string.
  const json = typeof input === "string" ? input : JSON.stringify(input ?? {});
  return [{ id, type: "function", function: { name, arguments: json } }];
}

/**
 * Converse's `inputTokens` excludes cache reads and writes. Converse does not report reasoning tokens.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
 */
function readConverseUsage(usage: unknown): ChatUsage | null {
  if (!isObject(usage)) return null;
  const { inputTokens, outputTokens, cacheReadInputTokens, cacheWriteInputTokens } = usage;
  if (!isCount(inputTokens) || !isCount(outputTokens)) return null;
  const cached = isCount(cacheReadInputTokens) ? cacheReadInputTokens : 0;
  const written = isCount(cacheWriteInputTokens) ? cacheWriteInputTokens : 0;
  const promptTokens = inputTokens + cached + written;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: outputTokens,
    total_tokens: promptTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
  };
}

/**
 * Reads one-hour cache writes, tier and speed, which affect the cost, from a response or a stream's last event.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CacheDetail.html
 */
function readConverseDetails(reported: Record<string, unknown>): UsageDetails | undefined {
  const { usage, serviceTier: tier, performanceConfig: performance } = reported;
  const writes =
    isObject(usage) && Array.isArray(usage["cacheDetails"]) ? usage["cacheDetails"].filter(isObject) : [];
  return usageDetails({
    cacheWrite1hTokens: writes.reduce(
      (sum, write) => sum + (write["ttl"] === "1h" ? (readCount(write["inputTokens"]) ?? 0) : 0),
      0,
    ),
    serviceTier: readTier(isObject(tier) ? tier["type"] : null),
    speed: readTerm(isObject(performance) ? performance["latency"] : null),
  });
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Throws `upstreamReported(…)` for failures, such as `malformed_model_output`, and for unknown reasons. */
function readStopReason(reason: unknown, hasToolCalls: boolean): FinishReason {
  if (typeof reason !== "string")
    throw upstreamReported("The response has no stop reason. Retry the request.");
  const known = finishReasons.get(reason);
  if (known === undefined)
    throw upstreamReported(`The model stopped with the unknown reason ${reason}. Retry the request.`);
  // Some models report another reason after tool calls.
  return known === "stop" && hasToolCalls ? "tool_calls" : known;
}

const finishReasons = new Map<string, FinishReason>([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["tool_use", "tool_calls"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["content_filtered", "content_filter"],
  ["guardrail_intervened", "content_filter"],
]);

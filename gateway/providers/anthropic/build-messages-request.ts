import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import type { UpstreamModel } from "../provider.ts";
import { findClaudeTraits, type ClaudeTraits } from "../claude-models.ts";
import {
  toClaudeSampling,
  continuesWithoutThought,
  type ThinkingOrder,
  toClaudeThinking,
} from "../claude-thinking.ts";
import type { Dropped } from "../requested-thinking.ts";
import { toStrictSchema } from "../strict-schema.ts";
import {
  expectObject,
  expectString,
  ifGiven,
  unsupported,
  unsupportedValue,
} from "../../wire/parameter-errors.ts";
import type {
  AnthropicMessage,
  MessagesRequest,
  OutputFormat,
  TextBlock,
  Thinking,
  ToolChoice,
} from "./messages-request.ts";
import { isThought } from "./reasoning-details.ts";
import { toAnthropicMessages } from "./to-anthropic-messages.ts";
import { toAnthropicTools } from "./to-anthropic-tools.ts";
import {
  type Inexpressible,
  is,
  isEmpty,
  isTextOnly,
  never,
  refuseParameters,
} from "../refuse-parameters.ts";

export function buildMessagesRequest(
  body: ChatRequestBody,
  model: UpstreamModel,
  dropped: Dropped = new Set<string>(),
): MessagesRequest {
  refuseParameters(body, inexpressible);
  const traits = findClaudeTraits(model.name);
  const maxTokens = toMaxTokens(body, model);
  const { system, messages } = toAnthropicMessages(body.messages);
  const { tools, toolChoice } = toAnthropicTools(body, messages, traits, dropped);
  const { format, instruction } = toOutputFormat(body["response_format"]);
  if (instruction) system.push(instruction);
  const { thinking, effort } = toThinking(body, { traits, messages, toolChoice, maxTokens, dropped });
  const sampling = toClaudeSampling(body, traits, isThinking(thinking), dropped);
  return {
    model: model.name,
    max_tokens: maxTokens,
    system: system.length > 0 ? system : undefined,
    // A model with disabled thinking rejects earlier thinking blocks.
    messages: thinking?.type === "disabled" ? messages.map(withoutThoughts) : messages,
    tools,
    tool_choice: toolChoice,
    thinking,
    output_config: effort || format ? { effort, format } : undefined,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_k: sampling.topK,
    stop_sequences: toStopSequences(body["stop"]),
    cache_control: ifGiven(body["cache_control"], "cache_control", expectObject),
    stream: body.stream === true ? true : undefined,
  };
}

/**
 * Anthropic requires a token limit, unlike OpenAI. The default is the lowest output limit of any Claude model,
 * plus the thinking budget.
 */
function toMaxTokens(body: ChatRequestBody, model: UpstreamModel): number {
  for (const requested of [body["max_completion_tokens"], body["max_tokens"], model.outputTokensMax]) {
    if (typeof requested === "number") return requested;
  }
  const thinking = ifGiven(body["thinking"], "thinking", expectObject);
  const budget = thinking?.["budget_tokens"];
  return smallestOutputTokensMax + (typeof budget === "number" ? budget : 0);
}

const smallestOutputTokensMax = 4_096;

function withoutThoughts({ role, content }: AnthropicMessage): AnthropicMessage {
  return { role, content: content.filter((block) => !isThought(block)) };
}

const inexpressible: Inexpressible[] = [
  ["n", is(1), "Claude returns one choice per request. Use 1."],
  ["logprobs", is(false), "Claude does not return log probabilities. Remove the parameter."],
  ["top_logprobs", is(0), "Claude does not return log probabilities. Remove the parameter."],
  ["logit_bias", isEmpty, "Claude does not support logit bias. Remove the parameter."],
  ["frequency_penalty", is(0), "Claude does not support penalties. Remove the parameter."],
  ["presence_penalty", is(0), "Claude does not support penalties. Remove the parameter."],
  ["modalities", isTextOnly, "Claude returns only text. Remove the parameter."],
  ["audio", never, "Claude returns only text. Remove the parameter."],
  ["functions", isEmpty, "Claude does not support this deprecated parameter. Use tools instead."],
  [
    "function_call",
    (value) => value === "none" || value === "auto",
    "Claude does not support this deprecated parameter. Use tool_choice instead.",
  ],
  ["web_search_options", never, "this web search works only with OpenAI. Remove the parameter."],
];

/**
 * Anthropic's output format requires a schema, so JSON without a schema becomes an instruction.
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
function toOutputFormat(value: unknown): { format?: OutputFormat; instruction?: TextBlock } {
  const responseFormat = ifGiven(value, "response_format", expectObject);
  if (responseFormat === undefined) return {};
  const param = "response_format.json_schema";
  switch (expectString(responseFormat["type"], "response_format.type")) {
    case "text":
      return {};
    case "json_object":
      return { instruction: jsonInstruction };
    case "json_schema": {
      const { schema, description } = expectObject(responseFormat["json_schema"], param);
      const given = ifGiven(schema, `${param}.schema`, expectObject);
      if (given === undefined) return { instruction: jsonInstruction };
      const about = ifGiven(description, `${param}.description`, expectString);
      const described = about === undefined ? given : { description: about, ...given };
      return { format: { type: "json_schema", schema: toStrictSchema(described) } };
    }
    default:
      throw unsupportedValue(
        "response_format.type",
        "Claude has no such format. Use text, json_object or json_schema.",
        responseFormat["type"],
      );
  }
}

const jsonInstruction: TextBlock = {
  type: "text",
  text: "Respond with one valid JSON object and nothing else: no surrounding text, no code fence.",
};

function toStopSequences(stop: unknown): string[] | undefined {
  if (stop === undefined || stop === null) return undefined;
  const sequences = Array.isArray(stop)
    ? stop.map((sequence, index) => expectString(sequence, `stop[${index}]`))
    : [expectString(stop, "stop")];
  // The API answers 400: "each stop sequence must contain non-whitespace".
  if (sequences.some((sequence) => sequence.trim() === "")) {
    throw unsupported(
      "stop",
      "Claude does not accept stop sequences that contain only whitespace. Remove them.",
    );
  }
  return sequences.length > 0 ? sequences : undefined;
}

function isThinking(thinking: Thinking | undefined): boolean {
  return thinking?.type === "enabled" || thinking?.type === "adaptive";
}

type Situation = {
  traits: ClaudeTraits;
  messages: AnthropicMessage[];
  toolChoice: ToolChoice | undefined;
  maxTokens: number;
  dropped: Dropped;
};

function toThinking(body: ChatRequestBody, situation: Situation): ThinkingOrder {
  const { traits, messages, toolChoice, maxTokens, dropped } = situation;
  const order = toClaudeThinking(body, {
    traits,
    isToolForced: toolChoice?.type === "any" || toolChoice?.type === "tool",
    continuesWithoutThought: continuesWithoutThought(
      messages,
      ({ type }) => type === "tool_result",
      isThought,
    ),
    limitTokens: maxTokens,
    dropped,
  });
  return withLooseBinding(order, situation);
}

/**
 * Lets the API drop thinking blocks of an edited conversation, such as a shortened one, instead of rejecting
 * the request. https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
 */
function withLooseBinding(order: ThinkingOrder, { traits, messages }: Situation): ThinkingOrder {
  const isAdaptive = order.thinking === undefined || order.thinking.type === "adaptive";
  const hasThoughts = messages.some(({ content }) => content.some(isThought));
  if (!traits.bindsThoughts || !isAdaptive || !hasThoughts) return order;
  const binding = { prefix_mismatch_behavior: "drop_block" };
  // Adaptive thinking is the default, so only the binding changes. The client's own binding takes precedence.
  return { ...order, thinking: { type: "adaptive", block_binding: binding, ...order.thinking } };
}

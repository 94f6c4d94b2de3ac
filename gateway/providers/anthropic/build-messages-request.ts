import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import type { UpstreamModel } from "../provider.ts";
import { type ClaudeTraits, findClaudeTraits } from "./claude-traits.ts";
import {
  expectNumber,
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
} from "./messages-request.ts";
import { isThought } from "./reasoning-details.ts";
import { toAnthropicMessages } from "./to-anthropic-messages.ts";
import { toAnthropicTools, toStrictSchema } from "./to-anthropic-tools.ts";
import { toThinking } from "./to-thinking.ts";
import {
  type Inexpressible,
  is,
  isEmpty,
  isTextOnly,
  never,
  refuseParameters,
} from "../refuse-parameters.ts";

export function buildMessagesRequest(body: ChatRequestBody, model: UpstreamModel): MessagesRequest {
  refuseParameters(body, inexpressible);
  const traits = findClaudeTraits(model.name);
  const maxTokens = toMaxTokens(body, model);
  const { system, messages } = toAnthropicMessages(body.messages);
  const { tools, toolChoice } = toAnthropicTools(body, messages);
  const { format, instruction } = toOutputFormat(body["response_format"]);
  if (instruction) system.push(instruction);
  const { thinking, effort } = toThinking(body, { traits, messages, toolChoice, maxTokens });
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
    ...toSampling(body, traits, thinking),
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

type Sampling = Pick<MessagesRequest, "temperature" | "top_p" | "top_k">;

/**
 * Omits a temperature or `top_p` of 1, the default. Many models reject both parameters together, or even one of them.
 * https://platform.claude.com/docs/en/build-with-claude/extended-thinking#feature-compatibility
 */
function toSampling(
  body: ChatRequestBody,
  { sampling }: ClaudeTraits,
  thinking: Thinking | undefined,
): Sampling {
  const temperature = unlessNeutral(ifGiven(body["temperature"], "temperature", expectNumber));
  const topP = unlessNeutral(ifGiven(body["top_p"], "top_p", expectNumber));
  const topK = ifGiven(body["top_k"], "top_k", expectNumber);
  if (temperature !== undefined && temperature > 1) {
    throw unsupportedValue("temperature", "Claude accepts at most 1. Use a value from 0 to 1.", temperature);
  }
  if (sampling === "never") {
    const why = "this model does not accept sampling parameters. Remove the parameter.";
    if (temperature !== undefined) throw unsupported("temperature", why);
    if (topP !== undefined) throw unsupported("top_p", why);
    if (topK !== undefined) throw unsupported("top_k", why);
  }
  if (sampling === "not while thinking" && isThinking(thinking)) {
    const why =
      "Claude does not accept this parameter while reasoning. Remove this parameter or reasoning_effort.";
    if (temperature !== undefined) throw unsupported("temperature", why);
    if (topP !== undefined && topP < thinkingTopPMin) throw unsupported("top_p", why);
    if (topK !== undefined) throw unsupported("top_k", why);
  }
  return { temperature, top_p: topP, top_k: topK };
}

const thinkingTopPMin = 0.95;

function unlessNeutral(value: number | undefined): number | undefined {
  return value === 1 ? undefined : value;
}

function isThinking(thinking: Thinking | undefined): boolean {
  return thinking?.type === "enabled" || thinking?.type === "adaptive";
}

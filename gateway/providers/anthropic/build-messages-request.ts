import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import type { UpstreamModel } from "../provider.ts";
import { addTurn } from "../add-turn.ts";
import { readAllowedTools, callInWords } from "../allowed-tools.ts";
import { findClaudeTraits, type ClaudeTraits } from "../claude-models.ts";
import {
  toClaudeSampling,
  continuesWithoutThought,
  type ThinkingOrder,
  toClaudeThinking,
} from "../claude-thinking.ts";
import type { Dropped } from "../requested-thinking.ts";
import { rootOfTool, toStrictSchema } from "../strict-schema.ts";
import {
  expectArray,
  expectBoolean,
  expectObject,
  expectString,
  ifGiven,
  invalidType,
  invalidValue,
  unsupported,
  unsupportedValue,
} from "../../wire/parameter-errors.ts";
import type { AnthropicMessage, TextBlock } from "./anthropic-message.ts";
import { isThought } from "./reasoning-details.ts";
import { toAnthropicMessages, toCacheControl } from "./to-anthropic-messages.ts";
import {
  type Inexpressible,
  is,
  isEmpty,
  isTextOnly,
  never,
  refuseParameters,
} from "../refuse-parameters.ts";

/** https://platform.claude.com/docs/en/api/messages/create */
export function buildMessagesRequest(
  body: ChatRequestBody,
  model: UpstreamModel,
  dropped: Dropped = new Set<string>(),
): object {
  refuseParameters(body, inexpressible);
  const traits = findClaudeTraits(model.name);
  const maxTokens = toMaxTokens(body, model);
  const { system, messages } = toAnthropicMessages(body.messages);
  const { tools, toolChoice } = toTools(body, messages, traits, dropped);
  const { format, instruction } = toOutputFormat(body["response_format"]);
  if (instruction) system.push(instruction);
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
  const { thinking, effort } = withLooseBinding(order, messages, traits);
  const isThinking = thinking?.type === "enabled" || thinking?.type === "adaptive";
  const sampling = toClaudeSampling(body, traits, isThinking, dropped);
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

/** Anthropic requires a limit. The default is the lowest output limit of Claude's models plus the thinking budget. */
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
function toOutputFormat(value: unknown): { format?: object; instruction?: TextBlock } {
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

/**
 * Lets the API drop thinking blocks of an edited conversation, such as a shortened one, instead of rejecting
 * the request. https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
 */
function withLooseBinding(
  order: ThinkingOrder,
  messages: AnthropicMessage[],
  { bindsThoughts }: ClaudeTraits,
): ThinkingOrder {
  const isAdaptive = order.thinking === undefined || order.thinking.type === "adaptive";
  const hasThoughts = messages.some(({ content }) => content.some(isThought));
  if (!bindsThoughts || !isAdaptive || !hasThoughts) return order;
  const binding = { prefix_mismatch_behavior: "drop_block" };
  // Adaptive thinking is the default, so only the binding changes. The client's own binding takes precedence.
  return { ...order, thinking: { type: "adaptive", block_binding: binding, ...order.thinking } };
}

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools */
function toTools(
  body: ChatRequestBody,
  messages: AnthropicMessage[],
  traits: ClaudeTraits,
  dropped: Dropped,
): { tools?: object[]; toolChoice?: ToolChoice | undefined } {
  const given = ifGiven(body["tools"], "tools", expectArray) ?? [];
  const allowed = readAllowedTools(body["tool_choice"]);
  const tools = given
    .map((tool, index) => toTool(tool, `tools[${index}]`))
    .filter(({ name }) => allowed === null || allowed.names.has(name));
  const toolChoice = toToolChoice(allowed ? { ...body, tool_choice: allowed.mode } : body);
  const isForced = toolChoice?.type === "any" || toolChoice?.type === "tool";
  if (tools.length > 0) {
    if (!isForced || traits.canForceTools) return { tools, toolChoice };
    dropped.add("tool_choice");
    const text = callInWords(toolChoice.type === "tool" ? toolChoice.name : undefined);
    addTurn(messages, { role: "user", content: [{ type: "text", text }] });
    const { disable_parallel_tool_use: isAlone } = toolChoice;
    return { tools, toolChoice: { type: "auto", disable_parallel_tool_use: isAlone } };
  }
  if (isForced) throw invalidValue("tool_choice", "requires at least one tool in tools", body["tool_choice"]);
  const past = findCalledTools(messages);
  return past.length > 0 ? { tools: past, toolChoice: { type: "none" } } : {};
}

function toTool(value: unknown, param: string) {
  const tool = expectObject(value, param);
  const type = expectString(tool["type"], `${param}.type`);
  if (type !== "function")
    throw unsupportedValue(`${param}.type`, "Claude supports only function tools. Remove the tool.", type);
  const fn = expectObject(tool["function"], `${param}.function`);
  const parameters = ifGiven(fn["parameters"], `${param}.function.parameters`, expectObject);
  const isStrict = ifGiven(fn["strict"], `${param}.function.strict`, expectBoolean) === true;
  const schema = rootOfTool(parameters);
  return {
    name: expectString(fn["name"], `${param}.function.name`),
    description: ifGiven(fn["description"], `${param}.function.description`, expectString),
    input_schema: isStrict ? toStrictSchema(schema) : schema,
    strict: isStrict ? true : undefined,
    cache_control: toCacheControl(tool, param) ?? toCacheControl(fn, `${param}.function`),
  };
}

type ToolChoice =
  | { type: "none" }
  | { type: "auto" | "any"; disable_parallel_tool_use?: true | undefined }
  | { type: "tool"; name: string; disable_parallel_tool_use?: true | undefined };

function toToolChoice(body: ChatRequestBody): ToolChoice | undefined {
  const choice = body["tool_choice"];
  const isParallel = ifGiven(body["parallel_tool_calls"], "parallel_tool_calls", expectBoolean);
  const parallel = isParallel === false ? ({ disable_parallel_tool_use: true } as const) : {};
  if (choice === undefined || choice === null) {
    return isParallel === false ? { type: "auto", ...parallel } : undefined;
  }
  if (choice === "none") return { type: "none" };
  if (choice === "auto") return { type: "auto", ...parallel };
  if (choice === "required") return { type: "any", ...parallel };
  if (typeof choice === "string") {
    throw invalidValue("tool_choice", "must be none, auto, required or a function", choice);
  }
  if (!isObject(choice)) throw invalidType("tool_choice", "a string or an object", choice);
  if (choice["type"] !== "function")
    throw unsupportedValue(
      "tool_choice",
      "Claude has no such choice. Use none, auto, required or a function.",
      choice["type"],
    );
  const { name } = expectObject(choice["function"], "tool_choice.function");
  return { type: "tool", name: expectString(name, "tool_choice.function.name"), ...parallel };
}

/** For a request without tools, because the API answers 400 to `tool_use` blocks without declared tools. */
function findCalledTools(messages: AnthropicMessage[]): object[] {
  const names = messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === "tool_use" ? block.name : [])),
  );
  return [...new Set(names)].map((name) => ({ name, input_schema: { type: "object" } }));
}

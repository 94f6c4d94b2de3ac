import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import { addTurn } from "../add-turn.ts";
import { callInWords, functionNameOf, readAllowedTools } from "../allowed-tools.ts";
import {
  toClaudeSampling,
  continuesWithoutThought,
  toClaudeThinking as toOrder,
} from "../claude-thinking.ts";
import type { UpstreamModel } from "../provider.ts";
import { type Dropped, readThinking } from "../requested-thinking.ts";
import { rootOfTool, toStrictSchema } from "../strict-schema.ts";
import type {
  ConverseMessage,
  ConverseRequest,
  OutputConfig,
  ToolConfig,
  ToolSpec,
} from "./converse-request.ts";
import {
  expectArray,
  expectNumber,
  expectObject,
  expectString,
  ifGiven,
  invalidValue,
  unsupportedValue,
} from "../../wire/parameter-errors.ts";
import { cachePointAfter, findModelFamily, type ModelFamily } from "./model-family.ts";
import { markEnd, toConverseMessages } from "./to-converse-messages.ts";
import {
  type Inexpressible,
  is,
  isEmpty,
  isTextOnly,
  never,
  refuseParameters,
} from "../refuse-parameters.ts";
import { isObject } from "../../wire/json.ts";
import type { ClaudeTraits } from "../claude-models.ts";

export function buildConverseRequest(
  body: ChatRequestBody,
  model: UpstreamModel,
  dropped: Dropped = new Set<string>(),
): ConverseRequest {
  refuseParameters(body, inexpressible);
  const family = findModelFamily(model.name);
  const { system, messages } = toConverseMessages(body.messages, family);
  markEnd(body, messages, family, dropped);
  const { toolConfig, claudeToolChoice, isForced, instruction } = toToolConfig(
    body,
    messages,
    family,
    dropped,
  );
  const format = toOutputFormat(body["response_format"], family);
  for (const text of [instruction, format.instruction]) if (text !== undefined) system.push({ text });

  const requested = body["max_completion_tokens"] ?? body["max_tokens"];
  const maxTokens = ifGiven(requested, "max_tokens", expectNumber);
  const situation = { family, model, messages, isToolForced: isForced, maxTokens, dropped };
  const thinking: ThinkingRules = family.claude
    ? toClaudeThinking(body, family.claude, situation)
    : { fields: toFields(body, situation), claudeThinks: false };
  const { temperature, topP, fields } = toSampling(body, family, thinking.claudeThinks, dropped);
  return {
    messages,
    system: system.length > 0 ? system : undefined,
    inferenceConfig: unlessEmpty({
      maxTokens: thinking.maxTokens ?? maxTokens,
      temperature,
      topP,
      stopSequences: toStopSequences(body["stop"]),
    }),
    toolConfig,
    outputConfig: format.outputConfig,
    additionalModelRequestFields: unlessEmpty({
      ...fields,
      ...thinking.fields,
      tool_choice: claudeToolChoice,
    }),
  };
}

function toStopSequences(stop: unknown): string[] | undefined {
  const given = Array.isArray(stop) ? stop : [stop];
  const sequences = given.flatMap(
    (sequence, index) => ifGiven(sequence, `stop[${index}]`, expectString) ?? [],
  );
  return sequences.length > 0 ? sequences : undefined;
}

function unlessEmpty<T extends object>(value: T): T | undefined {
  return Object.values(value).some((field) => field !== undefined) ? value : undefined;
}

const inexpressible: Inexpressible[] = [
  ["n", is(1), "models on Bedrock return one choice per request. Use 1."],
  ["logprobs", is(false), "Bedrock does not return log probabilities. Remove the parameter."],
  ["top_logprobs", is(0), "Bedrock does not return log probabilities. Remove the parameter."],
  ["logit_bias", isEmpty, "Bedrock has no equivalent. Remove the parameter."],
  ["frequency_penalty", is(0), "Bedrock has no equivalent. Remove the parameter."],
  ["presence_penalty", is(0), "Bedrock has no equivalent. Remove the parameter."],
  ["modalities", isTextOnly, "models on Bedrock return only text. Remove the parameter."],
  ["audio", never, "models on Bedrock return only text. Remove the parameter."],
  ["web_search_options", never, "models on Bedrock do not search the web. Remove the parameter."],
  ["functions", isEmpty, "models on Bedrock accept only tools. Use tools instead."],
  [
    "function_call",
    (value) => value === "none" || value === "auto",
    "models on Bedrock accept only tools. Use tool_choice instead.",
  ],
];

type OutputFormat = {
  outputConfig?: OutputConfig | undefined;
  /** The instruction that replaces an unsupported parameter. */
  instruction?: string | undefined;
};

/** https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html */
function toOutputFormat(responseFormat: unknown, family: ModelFamily): OutputFormat {
  const format = ifGiven(responseFormat, "response_format", expectObject) ?? { type: "text" };
  switch (format["type"]) {
    case "text":
      return {};
    case "json_object":
      return { instruction: "Respond with a JSON object and nothing else, without a code fence." };
    case "json_schema":
      return toSchemaFormat(format["json_schema"], "response_format.json_schema", family);
    default:
      throw unsupportedValue(
        "response_format.type",
        "models on Bedrock have no such format. Use text, json_object or json_schema.",
        format["type"],
      );
  }
}

function toSchemaFormat(value: unknown, param: string, family: ModelFamily): OutputFormat {
  const named = expectObject(value, param);
  const given = expectObject(named["schema"], `${param}.schema`);
  if (family.claude?.takesSchemaOnBedrock === false) {
    return { instruction: `${schemaInstruction}\n${JSON.stringify(given)}` };
  }
  // Bedrock answers 400 to a schema beyond its subset of JSON Schema.
  const schema = JSON.stringify(toStrictSchema(given));
  const name = ifGiven(named["name"], `${param}.name`, expectString);
  const description = ifGiven(named["description"], `${param}.description`, expectString);
  const structure = { jsonSchema: { schema, name, description } };
  return { outputConfig: { textFormat: { type: "json_schema", structure } } };
}

const schemaInstruction =
  "Respond with a JSON object that matches this JSON schema and nothing else, without a code fence:";

type Sampling = {
  temperature?: number | undefined;
  topP?: number | undefined;
  /** Members of `additionalModelRequestFields`, because Converse has no `top_k`. */
  fields: Record<string, unknown>;
};

function toSampling(
  body: ChatRequestBody,
  family: ModelFamily,
  claudeThinks: boolean,
  dropped: Dropped,
): Sampling {
  if (family.claude) {
    const { temperature, topP, topK } = toClaudeSampling(body, family.claude, claudeThinks, dropped);
    return { temperature, topP, fields: topK === undefined ? {} : { top_k: topK } };
  }
  const temperature = ifGiven(body["temperature"], "temperature", expectNumber);
  if (temperature !== undefined && temperature > 1) {
    throw unsupportedValue(
      "temperature",
      "models on Bedrock accept at most 1. Use a value from 0 to 1.",
      temperature,
    );
  }
  const topP = ifGiven(body["top_p"], "top_p", expectNumber);
  const topK = ifGiven(body["top_k"], "top_k", expectNumber);
  // https://docs.aws.amazon.com/nova/latest/userguide/using-converse-api.html
  const isNova = family.name === "nova" && topK !== undefined;
  if (topK !== undefined && !isNova) dropped.add("top_k");
  return { temperature, topP, fields: isNova ? { inferenceConfig: { topK } } : {} };
}

/** The reasoning effort in the model's own parameter. Without an equivalent, the model's default applies. */
function toFields(body: ChatRequestBody, { family, maxTokens, dropped }: Situation): Record<string, unknown> {
  const requested = readThinking(body);
  if (requested === null) return {};
  if (requested.budgetTokens !== null) dropped.add("thinking.budget_tokens");
  const { effort } = requested;
  const isHigh = effort === "high" || effort === "xhigh" || effort === "max";
  const step = isHigh ? "high" : effort === "medium" ? "medium" : "low";
  switch (family.name) {
    case "gpt":
      return { reasoning: { effort } };
    // The model always reasons. https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-openai.html
    case "gpt-oss":
      return { reasoning_effort: step };
    // https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html
    case "nova": {
      if (effort === "none" || !family.isNova2) return {};
      // Nova rejects high effort with a token limit, `temperature` or `top_p`.
      const limits = [maxTokens, body["temperature"], body["top_p"]];
      const isLimited = limits.some((limit) => typeof limit === "number");
      const maxReasoningEffort = step === "high" && isLimited ? "medium" : step;
      return { reasoningConfig: { type: "enabled", maxReasoningEffort } };
    }
    default:
      return {};
  }
}

/** https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html */
function toClaudeThinking(
  body: ChatRequestBody,
  traits: ClaudeTraits,
  { messages, isToolForced, maxTokens, model, dropped }: Situation,
): ThinkingRules {
  const limitTokens = maxTokens ?? model.outputTokensMax ?? leastOutputTokensMax;
  const continues = continuesWithoutThought(
    messages,
    (block) => "toolResult" in block,
    (block) => "reasoningContent" in block,
  );
  const situation = { traits, isToolForced, continuesWithoutThought: continues, limitTokens, dropped };
  const { thinking: order, effort } = toOrder(body, situation);
  const fields = effort === undefined ? {} : { output_config: { effort } };
  if (order === undefined) return { fields, claudeThinks: false };

  const { display, ...thinking } = order;
  const isShown = display !== undefined && traits.takesDisplay;
  if (display !== undefined && !isShown && isObject(body["thinking"])) dropped.add("thinking.display");
  return {
    fields: { ...fields, thinking: isShown ? order : thinking },
    maxTokens: order["type"] === "enabled" ? limitTokens : undefined,
    claudeThinks: order["type"] === "enabled" || order["type"] === "adaptive",
  };
}

/** The lowest output limit of the Claude models with a thinking budget. */
const leastOutputTokensMax = 32_000;

type ThinkingRules = {
  fields: Record<string, unknown>;
  /** The maximum tokens of the response, if thinking requires a limit. */
  maxTokens?: number | undefined;
  /** Whether Claude will think. Claude then rejects some parameters. */
  claudeThinks: boolean;
};

type Situation = {
  family: ModelFamily;
  model: UpstreamModel;
  messages: ConverseMessage[];
  isToolForced: boolean;
  maxTokens: number | undefined;
  dropped: Dropped;
};

type ToolRules = {
  toolConfig?: ToolConfig | undefined;
  /** Claude's own `tool_choice`, because Converse cannot disable parallel calls. */
  claudeToolChoice?: object | undefined;
  isForced: boolean;
  instruction?: string | undefined;
};

/** https://docs.aws.amazon.com/bedrock/latest/userguide/tool-use-inference-call.html */
function toToolConfig(
  body: ChatRequestBody,
  messages: ConverseMessage[],
  family: ModelFamily,
  dropped: Dropped,
): ToolRules {
  const choice = readToolChoice(body["tool_choice"]);
  const [forcedName] = choice.mode === "required" && choice.names?.size === 1 ? choice.names : [];
  // With a forced tool, the request still declares all tools, so that the prompt cache stays valid.
  const tools = toToolSpecs(body, forcedName === undefined ? choice.names : null, family);
  if (choice.mode === "none" || !Array.isArray(body["tools"]) || body["tools"].length === 0) {
    return forbidCalls(tools, messages);
  }
  if (tools.length === 0) throw invalidValue("tool_choice", "must name functions in tools");

  const isRequired = choice.mode === "required";
  const isForced = isRequired && family.claude?.canForceTools !== false;
  if (isRequired && !isForced) {
    dropped.add("tool_choice");
    addTurn(messages, { role: "user", content: [{ text: callInWords(forcedName) }] });
  }
  if (body["parallel_tool_calls"] === false && family.name === "claude") {
    return { toolConfig: { tools }, claudeToolChoice: oneCallAtMost(isForced, forcedName), isForced };
  }
  if (!isForced) return { toolConfig: { tools }, isForced };
  const toolChoice = forcedName === undefined ? { any: {} } : { tool: { name: forcedName } };
  return { toolConfig: { tools, toolChoice }, isForced };
}

/** Converse has no choice `none`, and requires declared tools in a conversation with tool calls. */
function forbidCalls(tools: ToolConfig["tools"], messages: ConverseMessage[]): ToolRules {
  const past = toPastToolSpecs(messages);
  if (past.length === 0) return { isForced: false };
  return {
    toolConfig: { tools: tools.length > 0 ? tools : past },
    isForced: false,
    instruction: "Do not call any tool. Answer with what you know.",
  };
}

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use#parallel-tool-use */
function oneCallAtMost(isForced: boolean, name: string | undefined): object {
  if (!isForced) return { type: "auto", disable_parallel_tool_use: true };
  return { type: name === undefined ? "any" : "tool", name, disable_parallel_tool_use: true };
}

/** `names` restricts the choice to certain functions. Null means no restriction. */
type ChosenTools = { mode: "none" | "auto" | "required"; names: ReadonlySet<string> | null };

/** https://platform.openai.com/docs/api-reference/chat/create#chat_create-tool_choice */
function readToolChoice(choice: unknown): ChosenTools {
  if (choice === undefined || choice === null || choice === "auto") return { mode: "auto", names: null };
  if (choice === "none" || choice === "required") return { mode: choice, names: null };
  if (isObject(choice) && choice["type"] === "function") {
    return { mode: "required", names: new Set([functionNameOf(choice, "tool_choice")]) };
  }
  const allowed = readAllowedTools(choice);
  if (allowed) return allowed;
  throw invalidValue("tool_choice", "must be none, auto, required or an object that names functions", choice);
}

/**
 * Omits `strict`, which many models reject.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html
 */
function toToolSpecs(
  body: ChatRequestBody,
  names: ReadonlySet<string> | null,
  family: ModelFamily,
): ToolConfig["tools"] {
  return (ifGiven(body["tools"], "tools", expectArray) ?? []).flatMap((value, index) => {
    const param = `tools[${index}]`;
    const tool = expectObject(value, param);
    if (tool["type"] !== "function") {
      throw unsupportedValue(
        `${param}.type`,
        "models on Bedrock support only function tools. Remove the tool.",
        tool["type"],
      );
    }
    const spec = toToolSpec(expectObject(tool["function"], `${param}.function`), `${param}.function`);
    return names === null || names.has(spec.name)
      ? [{ toolSpec: spec }, ...cachePointAfter(holderOfMark(tool), family, "tools")]
      : [];
  });
}

/** Clients mark the tool or its function. */
function holderOfMark(tool: Record<string, unknown>): Record<string, unknown> {
  const { function: fn } = tool;
  return tool["cache_control"] === undefined && isObject(fn) ? fn : tool;
}

function toToolSpec({ name, description, parameters }: Record<string, unknown>, param: string): ToolSpec {
  const words = ifGiven(description, `${param}.description`, expectString) ?? "";
  return {
    name: expectString(name, `${param}.name`),
    // Bedrock rejects a blank description.
    description: words.trim() === "" ? undefined : words,
    inputSchema: {
      json: rootOfTool(ifGiven(parameters, `${param}.parameters`, expectObject) ?? emptySchema),
    },
  };
}

/** The schemas are empty, because the request declares no tools. */
function toPastToolSpecs(messages: ConverseMessage[]): ToolConfig["tools"] {
  const blocks = messages.flatMap(({ content }) => content);
  const names = new Set(blocks.flatMap((block) => ("toolUse" in block ? block.toolUse.name : [])));
  return [...names].map((name) => ({ toolSpec: { name, inputSchema: { json: emptySchema } } }));
}

const emptySchema = { type: "object", properties: {} };

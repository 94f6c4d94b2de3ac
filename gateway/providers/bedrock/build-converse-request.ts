import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import {
  toClaudeSampling,
  continuesWithoutThought,
  toClaudeThinking as toOrder,
} from "../claude-thinking.ts";
import type { UpstreamModel } from "../provider.ts";
import { type Dropped, readThinking } from "../requested-thinking.ts";
import { toStrictSchema } from "../strict-schema.ts";
import type { ConverseRequest, OutputConfig, ConverseMessage } from "./converse-request.ts";
import {
  expectNumber,
  expectObject,
  expectString,
  ifGiven,
  unsupportedValue,
} from "../../wire/parameter-errors.ts";
import { findModelFamily, type ModelFamily } from "./model-family.ts";
import { markEnd, toConverseMessages } from "./to-converse-messages.ts";
import { toToolConfig } from "./to-tool-config.ts";
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
  const thinking = toThinking(body, { family, model, messages, isToolForced: isForced, maxTokens, dropped });
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

/**
 * Converts the reasoning effort to the model's own parameter. Without an equivalent, the model's default
 * applies.
 */
function toThinking(body: ChatRequestBody, situation: Situation): ThinkingRules {
  const { claude } = situation.family;
  return claude === null
    ? { fields: toFields(body, situation), claudeThinks: false }
    : toClaudeThinking(body, claude, situation);
}

function toFields(body: ChatRequestBody, { family, maxTokens, dropped }: Situation): Record<string, unknown> {
  const requested = readThinking(body);
  if (requested === null) return {};
  if (requested.budgetTokens !== null) dropped.add("thinking.budget_tokens");
  const { effort } = requested;
  const step = effort === "medium" || effort === "high" ? effort : toStep(effort);
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

function toStep(effort: "none" | "minimal" | "low" | "xhigh" | "max"): "low" | "high" {
  return effort === "xhigh" || effort === "max" ? "high" : "low";
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

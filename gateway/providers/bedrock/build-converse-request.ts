import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import type { UpstreamModel } from "../provider.ts";
import type { ConverseRequest, OutputConfig } from "./converse-request.ts";
import {
  expectNumber,
  expectObject,
  expectString,
  ifGiven,
  unsupported,
  unsupportedValue,
} from "../../wire/parameter-errors.ts";
import { findModelFamily, type ModelFamily } from "./model-family.ts";
import { toConverseMessages } from "./to-converse-messages.ts";
import { toThinking } from "./to-thinking.ts";
import { toToolConfig } from "./to-tool-config.ts";
import {
  type Inexpressible,
  is,
  isEmpty,
  isTextOnly,
  never,
  refuseParameters,
} from "../refuse-parameters.ts";

export function buildConverseRequest(body: ChatRequestBody, model: UpstreamModel): ConverseRequest {
  refuseParameters(body, inexpressible);
  const family = findModelFamily(model.name);
  const { system, messages } = toConverseMessages(body.messages, family);
  const { toolConfig, claudeToolChoice, isForced, instruction } = toToolConfig(body, messages, family);
  const format = toOutputFormat(body["response_format"], family);
  for (const text of [instruction, format.instruction]) if (text !== undefined) system.push({ text });

  const requested = body["max_completion_tokens"] ?? body["max_tokens"];
  const maxTokens = ifGiven(requested, "max_tokens", expectNumber);
  const thinking = toThinking(body, { family, model, messages, isToolForced: isForced, maxTokens });
  const { temperature, topP, fields } = toSampling(body, family, thinking.claudeThinks);
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
  const schema = JSON.stringify(expectObject(named["schema"], `${param}.schema`));
  if (!takesSchema(family)) return { instruction: `${schemaInstruction}\n${schema}` };
  const name = ifGiven(named["name"], `${param}.name`, expectString);
  const description = ifGiven(named["description"], `${param}.description`, expectString);
  const structure = { jsonSchema: { schema, name, description } };
  return { outputConfig: { textFormat: { type: "json_schema", structure } } };
}

/** For other Claude models, Bedrock reports "output_config.format: Extra inputs are not permitted". */
function takesSchema({ name, version }: ModelFamily): boolean {
  return name !== "claude" || version === 405 || version === 406;
}

const schemaInstruction =
  "Respond with a JSON object that matches this JSON schema and nothing else, without a code fence:";

type Sampling = {
  temperature?: number | undefined;
  topP?: number | undefined;
  /** Members of `additionalModelRequestFields`, because Converse has no `top_k`. */
  fields: Record<string, unknown>;
};

function toSampling(body: ChatRequestBody, family: ModelFamily, claudeThinks: boolean): Sampling {
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
  switch (family.name) {
    case "claude":
      return claudeSampling({ temperature, topP, topK }, family.version, claudeThinks);
    // https://docs.aws.amazon.com/nova/latest/userguide/using-converse-api.html
    case "nova":
      return { temperature, topP, fields: topK === undefined ? {} : { inferenceConfig: { topK } } };
    default:
      return { temperature, topP, fields: {} };
  }
}

type RequestedSampling = Record<"temperature" | "topP" | "topK", number | undefined>;

/** Omits a `temperature` or `top_p` of 1, the default, because some models reject both parameters together. */
function claudeSampling(requested: RequestedSampling, version: number, thinks: boolean): Sampling {
  const temperature = unlessOne(requested.temperature);
  const topP = unlessOne(requested.topP);
  const { topK } = requested;
  if (version >= 407) {
    refuse(
      { temperature, top_p: topP, top_k: topK },
      "this model does not accept sampling parameters. Remove the parameter.",
    );
  } else if (thinks) {
    // https://platform.claude.com/docs/en/build-with-claude/extended-thinking#feature-compatibility
    const refused = { temperature, top_k: topK, top_p: topP !== undefined && topP < 0.95 ? topP : undefined };
    refuse(
      refused,
      "Claude does not accept this parameter while reasoning. Remove this parameter or reasoning_effort.",
    );
  }
  return { temperature, topP, fields: topK === undefined ? {} : { top_k: topK } };
}

function refuse(parameters: Record<string, number | undefined>, why: string): void {
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) throw unsupported(name, why);
  }
}

function unlessOne(value: number | undefined): number | undefined {
  return value === 1 ? undefined : value;
}

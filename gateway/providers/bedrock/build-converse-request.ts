import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import type { UpstreamModel } from "../provider.ts";
import type { ConverseRequest } from "./converse-request.ts";
import { expectNumber, expectString, ifGiven } from "../../wire/expect-type.ts";
import { findModelFamily } from "./model-family.ts";
import { toConverseMessages } from "./to-converse-messages.ts";
import { toOutputFormat } from "./to-output-format.ts";
import { toSampling } from "./to-sampling.ts";
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

/** Says in Converse's form what a chat completion request says. */
export function buildConverseRequest(body: ChatRequestBody, model: UpstreamModel): ConverseRequest {
  refuseInexpressible(body);
  const family = findModelFamily(model.name);
  const { system, messages } = toConverseMessages(body.messages, family);
  const { toolConfig, claudeToolChoice, isForced, instruction } = toToolConfig(body, messages, family);
  const format = toOutputFormat(body["response_format"], family);
  for (const text of [instruction, format.instruction]) if (text !== undefined) system.push({ text });

  const asked = body["max_completion_tokens"] ?? body["max_tokens"];
  const maxTokens = ifGiven(asked, "max_tokens", expectNumber);
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

/** Throws `unsupported_parameter` for what Converse has nothing like, and what would change the answer. */
function refuseInexpressible(body: ChatRequestBody): void {
  refuseParameters(body, inexpressible);
}

const inexpressible: Inexpressible[] = [
  ["n", is(1), "Models on Bedrock give one answer to a request."],
  ["logprobs", is(false), "Bedrock does not tell probabilities."],
  ["top_logprobs", is(0), "Bedrock does not tell probabilities."],
  ["logit_bias", isEmpty, "Bedrock has nothing like it."],
  ["frequency_penalty", is(0), "Bedrock has nothing like it."],
  ["presence_penalty", is(0), "Bedrock has nothing like it."],
  ["modalities", isTextOnly, "Models on Bedrock answer with text."],
  ["audio", never, "Models on Bedrock answer with text."],
  ["web_search_options", never, "Models on Bedrock do not search the web."],
  ["functions", isEmpty, "Use tools instead."],
  ["function_call", (value) => value === "none" || value === "auto", "Use tool_choice instead."],
];

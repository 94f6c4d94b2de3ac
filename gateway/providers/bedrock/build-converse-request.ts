import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import type { UpstreamModel } from "../provider.ts";
import type { ConverseRequest } from "./converse-request.ts";
import { expectNumber, expectString, ifGiven } from "../../wire/expect-type.ts";
import { findModelFamily } from "./model-family.ts";
import { refuseInexpressible } from "./refuse-inexpressible.ts";
import { toConverseMessages } from "./to-converse-messages.ts";
import { toOutputFormat } from "./to-output-format.ts";
import { toSampling } from "./to-sampling.ts";
import { toThinking } from "./to-thinking.ts";
import { toToolConfig } from "./to-tool-config.ts";

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

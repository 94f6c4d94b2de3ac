import type { ChatMessage } from "../../wire/chat-completion.ts";
import type { ValueCount } from "../../wire/json-layout.ts";
import { jsonTextDepthMax, parseShallowObject } from "../../wire/parse-shallow-object.ts";
import { unsupported } from "../../wire/unsupported.ts";
import type { ContentBlock } from "./converse-request.ts";
import { expectArray, expectObject, expectString, ifGiven } from "../../wire/expect-type.ts";
import { invalidValue } from "../../wire/parameter-errors.ts";
import { toReasoningBlocks } from "./reasoning-details.ts";
import { type Conversation, toTextBlocks, unlessBlank } from "./to-content-blocks.ts";
import { toToolUseId } from "./tool-use-id.ts";

/** What the model thought, said and called, in this order, which Claude insists on. */
export function toAssistantBlocks(
  message: ChatMessage,
  param: string,
  conversation: Conversation,
): ContentBlock[] {
  if (message["function_call"] !== undefined && message["function_call"] !== null) {
    throw unsupported(`${param}.function_call`, "Use tool_calls instead.");
  }
  const said: ContentBlock[] = [
    ...toTextBlocks(message, param, conversation),
    ...unlessBlank(ifGiven(message["refusal"], `${param}.refusal`, expectString) ?? ""),
    ...toToolUses(message["tool_calls"], `${param}.tool_calls`, conversation),
  ];
  // A turn of nothing but thoughts is refused.
  return said.length === 0
    ? []
    : [...toReasoningBlocks(message["reasoning_details"], conversation.family), ...said];
}

function toToolUses(calls: unknown, param: string, { family, jsonTexts }: Conversation): ContentBlock[] {
  return (ifGiven(calls, param, expectArray) ?? []).map((value, index) => {
    const callParam = `${param}[${index}]`;
    const call = expectObject(value, callParam);
    if (call["type"] !== undefined && call["type"] !== "function") {
      throw unsupported(`${callParam}.type`, "Models on Bedrock call functions only.");
    }
    const called = expectObject(call["function"], `${callParam}.function`);
    return {
      toolUse: {
        toolUseId: toToolUseId(call["id"], `${callParam}.id`, family),
        name: expectString(called["name"], `${callParam}.function.name`),
        input: parseInput(called["arguments"], `${callParam}.function.arguments`, jsonTexts),
      },
    };
  });
}

function parseInput(text: unknown, param: string, jsonTexts: ValueCount): Record<string, unknown> {
  const json = expectString(text, param);
  if (json.trim() === "") return {};
  const input = parseShallowObject(json, jsonTexts);
  if (input === null)
    throw invalidValue(param, `must be a JSON object of at most ${jsonTextDepthMax} levels`);
  return input;
}

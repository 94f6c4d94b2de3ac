import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import type { UpstreamModel } from "../provider.ts";
import { findClaudeTraits } from "./claude-traits.ts";
import { expectObject, ifGiven } from "../../wire/expect-type.ts";
import type { AnthropicMessage, MessagesRequest } from "./messages-request.ts";
import { isThought } from "./reasoning-details.ts";
import { refuseInexpressible } from "./refuse-inexpressible.ts";
import { toAnthropicMessages } from "./to-anthropic-messages.ts";
import { toAnthropicTools } from "./to-anthropic-tools.ts";
import { toOutputFormat } from "./to-output-format.ts";
import { toSampling } from "./to-sampling.ts";
import { toStopSequences } from "./to-stop-sequences.ts";
import { toThinking } from "./to-thinking.ts";

/** Says in the Messages API's form what a chat completion request says. */
export function buildMessagesRequest(body: ChatRequestBody, model: UpstreamModel): MessagesRequest {
  refuseInexpressible(body);
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
    // A model that may not think does not want its thoughts back either.
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
 * OpenAI's API has no limit unless one is asked for, this one must have one: all that the model can say, or, where nobody
 * said how much that is, what even the smallest Claude can, after whatever it may think.
 */
function toMaxTokens(body: ChatRequestBody, model: UpstreamModel): number {
  for (const asked of [body["max_completion_tokens"], body["max_tokens"], model.outputTokensMax]) {
    if (typeof asked === "number") return asked;
  }
  const thinking = ifGiven(body["thinking"], "thinking", expectObject);
  const budget = thinking?.["budget_tokens"];
  return smallestOutputTokensMax + (typeof budget === "number" ? budget : 0);
}

const smallestOutputTokensMax = 4_096;

function withoutThoughts({ role, content }: AnthropicMessage): AnthropicMessage {
  return { role, content: content.filter((block) => !isThought(block)) };
}

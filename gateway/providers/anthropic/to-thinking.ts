import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import { claudeBudgetTokens, type ClaudeEffort, claudeEfforts, isClaudeEffort } from "../claude-budget.ts";
import type { ClaudeTraits } from "./claude-traits.ts";
import { expectObject, expectString, ifGiven, invalidValue } from "../../wire/parameter-errors.ts";
import type { AnthropicMessage, Thinking, ToolChoice } from "./messages-request.ts";
import { isThought } from "./reasoning-details.ts";

/**
 * `thinking`, Anthropic's own parameter, takes precedence over `reasoning_effort`. Without either, the model's
 * default applies. https://platform.claude.com/docs/en/build-with-claude/thinking
 */
export function toThinking(body: ChatRequestBody, situation: Situation): ThinkingOrder {
  const { traits, messages } = situation;
  const requested = readEffort(body["reasoning_effort"]);
  const given = ifGiven(body["thinking"], "thinking", expectObject);
  if (given) {
    const isRefused = given["type"] === "enabled" && continuesWithoutThought(messages);
    const effort = requested === undefined || requested === "none" ? undefined : traits.efforts?.[requested];
    return { thinking: isRefused ? undefined : given, effort };
  }
  const order =
    requested === undefined ? {} : requested === "none" ? traits.calm : think(requested, situation);
  return withLooseBinding(order, situation);
}

type ThinkingOrder = { thinking?: Thinking | undefined; effort?: string | undefined };

type Situation = {
  traits: ClaudeTraits;
  messages: AnthropicMessage[];
  toolChoice: ToolChoice | undefined;
  maxTokens: number;
};

function readEffort(value: unknown): ClaudeEffort | "none" | undefined {
  const name = ifGiven(value, "reasoning_effort", expectString);
  if (name === undefined || name === "none" || isClaudeEffort(name)) return name;
  throw invalidValue("reasoning_effort", `must be one of none, ${claudeEfforts.join(", ")}`, name);
}

/** A forced tool prevents thinking. The messages or the token limit can also prevent a thinking budget. */
function think(effort: ClaudeEffort, { traits, messages, toolChoice, maxTokens }: Situation): ThinkingOrder {
  const isForced = toolChoice?.type === "any" || toolChoice?.type === "tool";
  if (traits.efforts) {
    // Newer models hide their reasoning by default.
    const thinking = isForced ? undefined : { type: "adaptive", display: "summarized" };
    return { thinking, effort: traits.efforts[effort] };
  }
  if (isForced || continuesWithoutThought(messages)) return {};
  const budget = claudeBudgetTokens(effort, maxTokens);
  return budget === null ? {} : { thinking: { type: "enabled", budget_tokens: budget } };
}

/**
 * Whether the response continues an assistant turn that does not start with thinking, usually after tool calls.
 * The API then rejects a thinking budget. Adaptive models accept such a turn.
 */
function continuesWithoutThought(messages: AnthropicMessage[]): boolean {
  const requested = messages.findLastIndex(
    ({ role, content }) => role === "user" && !content.some(({ type }) => type === "tool_result"),
  );
  const first = messages.slice(requested + 1).find(({ role }) => role === "assistant")?.content[0];
  return first !== undefined && !isThought(first);
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
  // Adaptive thinking is the default, so only the binding changes.
  return { ...order, thinking: { type: "adaptive", ...order.thinking, block_binding: binding } };
}

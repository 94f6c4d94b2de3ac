import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import type { ClaudeTraits } from "../claude-models.ts";
import { type ThinkingOrder, toClaudeThinking } from "../claude-thinking.ts";
import type { Dropped } from "../requested-thinking.ts";
import type { AnthropicMessage, ToolChoice } from "./messages-request.ts";
import { isThought } from "./reasoning-details.ts";

type Situation = {
  traits: ClaudeTraits;
  messages: AnthropicMessage[];
  toolChoice: ToolChoice | undefined;
  maxTokens: number;
  dropped: Dropped;
};

export function toThinking(body: ChatRequestBody, situation: Situation): ThinkingOrder {
  const { traits, messages, toolChoice, maxTokens, dropped } = situation;
  const order = toClaudeThinking(body, {
    traits,
    isToolForced: toolChoice?.type === "any" || toolChoice?.type === "tool",
    continuesWithoutThought: continuesWithoutThought(messages),
    limitTokens: maxTokens,
    dropped,
  });
  return withLooseBinding(order, situation);
}

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
  // Adaptive thinking is the default, so only the binding changes. The client's own binding takes precedence.
  return { ...order, thinking: { type: "adaptive", block_binding: binding, ...order.thinking } };
}

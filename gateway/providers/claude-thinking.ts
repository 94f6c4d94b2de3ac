import type { ChatRequestBody } from "../wire/chat-completion.ts";
import { claudeBudgetTokens, type ClaudeEffort } from "./claude-budget.ts";
import type { ClaudeTraits } from "./claude-models.ts";
import { type Dropped, type RequestedThinking, readThinking } from "./requested-thinking.ts";

/** Claude's own parameter: `enabled` with a budget, `adaptive`, `between_tools` or `disabled`. */
type ClaudeThinking = { type?: unknown; [field: string]: unknown };

export type ClaudeSituation = {
  traits: ClaudeTraits;
  /** False if the model cannot be forced, and the request therefore contains an instruction. */
  isToolForced: boolean;
  /**
   * Whether the response continues an assistant turn that does not start with thinking, usually after tool calls.
   * Claude then rejects a thinking budget. Adaptive models accept such a turn.
   */
  continuesWithoutThought: boolean;
  /** The maximum tokens of the response, thinking included. */
  limitTokens: number;
  dropped: Dropped;
};

export type ThinkingOrder = { thinking?: ClaudeThinking | undefined; effort?: string | undefined };

/**
 * Converts `thinking`, or else `reasoning_effort`, to what the model accepts. Without either, the model's default
 * applies. https://platform.claude.com/docs/en/build-with-claude/thinking
 */
export function toClaudeThinking(body: ChatRequestBody, situation: ClaudeSituation): ThinkingOrder {
  const requested = readThinking(body);
  const { traits } = situation;
  if (requested === null) return {};
  if (requested.given && traits.thinking === "as requested") return { thinking: requested.given };
  const { effort } = requested;
  if (effort === "none") return calm(requested, traits);
  if (traits.thinking === "never") return {};
  const wantsBudget = requested.budgetTokens !== null && traits.thinking !== "by effort";
  const order =
    wantsBudget || traits.thinking === "by budget" || traits.thinking === "as requested"
      ? byBudget(requested, effort, situation)
      : byEffort(requested, effort, situation);
  if (requested.given && order.thinking === undefined) situation.dropped.add("thinking");
  else if (requested.budgetTokens !== null && !wantsBudget) situation.dropped.add("thinking.budget_tokens");
  return order;
}

function calm({ given }: RequestedThinking, { calm: order, thinking }: ClaudeTraits): ThinkingOrder {
  const isDisabled = given?.["type"] === "disabled";
  // Models that reason only on request accept the switch, too.
  const isKept = isDisabled && Object.keys(order).length === 0 && thinking !== "never";
  return isKept ? { thinking: given } : { ...order };
}

/** A forced tool takes precedence over thinking, because models with a budget reject both together. */
function byBudget(
  { given, budgetTokens }: RequestedThinking,
  effort: ClaudeEffort,
  situation: ClaudeSituation,
): ThinkingOrder {
  const { isToolForced, continuesWithoutThought, limitTokens } = situation;
  if (isToolForced || continuesWithoutThought) return {};
  if (given && budgetTokens !== null) return { thinking: given };
  const budget = claudeBudgetTokens(effort, limitTokens);
  return budget === null ? {} : { thinking: { type: "enabled", budget_tokens: budget } };
}

function byEffort(
  { given, isEffortGiven }: RequestedThinking,
  effort: ClaudeEffort,
  { traits, isToolForced }: ClaudeSituation,
): ThinkingOrder {
  const isDefault = given?.["type"] === "adaptive" && !isEffortGiven;
  const order = { effort: isDefault ? undefined : traits.efforts[effort] };
  if (isToolForced) return order;
  if (given?.["type"] === "adaptive") return { ...order, thinking: given };
  // Newer models hide their reasoning by default.
  const display = typeof given?.["display"] === "string" ? given["display"] : "summarized";
  return { ...order, thinking: { type: "adaptive", display } };
}

import type { ChatRequestBody } from "../wire/chat-completion.ts";
import {
  claudeBudgetTokens,
  type ClaudeEffort,
  type Dropped,
  type RequestedThinking,
  readThinking,
} from "./requested-thinking.ts";
import type { ClaudeTraits } from "./claude-models.ts";
import { expectNumber, ifGiven, unsupported, unsupportedValue } from "../wire/parameter-errors.ts";

/** Claude's own parameter: `enabled` with a budget, `adaptive`, `between_tools` or `disabled`. */
type ClaudeThinking = { type?: unknown; [field: string]: unknown };

type ClaudeSituation = {
  traits: ClaudeTraits;
  /** False if the model cannot be forced, and the request therefore contains an instruction. */
  isToolForced: boolean;
  continuesWithoutThought: boolean;
  /** The maximum tokens of the response, thinking included. */
  limitTokens: number;
  dropped: Dropped;
};

/**
 * Whether the response continues an assistant turn that does not start with thinking, usually after tool calls.
 * Claude then rejects a thinking budget. Adaptive models accept such a turn.
 */
export function continuesWithoutThought<Block>(
  messages: readonly { role: string; content: readonly Block[] }[],
  isToolResult: (block: Block) => boolean,
  isThought: (block: Block) => boolean,
): boolean {
  const requested = messages.findLastIndex(
    ({ role, content }) => role === "user" && !content.some(isToolResult),
  );
  const first = messages.slice(requested + 1).find(({ role }) => role === "assistant")?.content[0];
  return first !== undefined && !isThought(first);
}

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
  if (effort === "none") return withoutThinking(requested, traits);
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

function withoutThinking({ given }: RequestedThinking, traits: ClaudeTraits): ThinkingOrder {
  const { thinkingOff, thinking } = traits;
  const isDisabled = given?.["type"] === "disabled";
  // Models that reason only on request accept the switch, too.
  const isKept = isDisabled && Object.keys(thinkingOff).length === 0 && thinking !== "never";
  return isKept ? { thinking: given } : { ...thinkingOff };
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
  const order = { effort: isDefault ? undefined : toEffort(effort, traits) };
  if (isToolForced) return order;
  if (given?.["type"] === "adaptive") return { ...order, thinking: given };
  // Newer models hide their reasoning by default.
  const display = typeof given?.["display"] === "string" ? given["display"] : "summarized";
  return { ...order, thinking: { type: "adaptive", display } };
}

/**
 * Without `xhigh`, the replacement is lower, because a higher effort would cost more.
 * https://platform.claude.com/docs/en/build-with-claude/effort
 */
function toEffort(effort: ClaudeEffort, { takesXhigh }: ClaudeTraits): string {
  if (effort === "minimal") return "low";
  return effort === "xhigh" && !takesXhigh ? "high" : effort;
}

type ClaudeSampling = Record<"temperature" | "topP" | "topK", number | undefined>;

/**
 * Omits a temperature or `top_p` of 1, the default, and parameters of which the model accepts no value. While older
 * models reason, they reject parameters that they accept otherwise, so the client must choose.
 * https://platform.claude.com/docs/en/build-with-claude/extended-thinking#feature-compatibility,
 * https://platform.claude.com/docs/en/about-claude/models/whats-new-claude-4-7
 */
export function toClaudeSampling(
  body: ChatRequestBody,
  { sampling, thinking }: ClaudeTraits,
  isThinking: boolean,
  dropped: Dropped,
): ClaudeSampling {
  const temperature = unlessNeutral(ifGiven(body["temperature"], "temperature", expectNumber));
  const topP = unlessNeutral(ifGiven(body["top_p"], "top_p", expectNumber));
  const topK = ifGiven(body["top_k"], "top_k", expectNumber);
  if (sampling === "none") {
    for (const [param, value] of Object.entries({ temperature, top_p: topP, top_k: topK })) {
      if (value !== undefined) dropped.add(param);
    }
    return { temperature: undefined, topP: undefined, topK: undefined };
  }
  if (temperature !== undefined && temperature > 1) {
    throw unsupportedValue("temperature", "Claude accepts at most 1. Use a value from 0 to 1.", temperature);
  }
  if (isThinking && thinking !== "as requested") {
    const why =
      "Claude does not accept this parameter while reasoning. Remove this parameter or reasoning_effort.";
    if (temperature !== undefined) throw unsupported("temperature", why);
    if (topP !== undefined && topP < thinkingTopPMin) throw unsupported("top_p", why);
    if (topK !== undefined) throw unsupported("top_k", why);
  }
  if (sampling === "one" && temperature !== undefined && topP !== undefined) {
    // The API answers 400: "`temperature` and `top_p` cannot both be specified for this model."
    dropped.add("top_p");
    return { temperature, topP: undefined, topK };
  }
  return { temperature, topP, topK };
}

const thinkingTopPMin = 0.95;

function unlessNeutral(value: number | undefined): number | undefined {
  return value === 1 ? undefined : value;
}

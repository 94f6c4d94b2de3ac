import type { ChatRequestBody } from "../wire/chat-completion.ts";
import { expectNumber, expectObject, expectString, ifGiven, invalidValue } from "../wire/parameter-errors.ts";

/** The parameters of the request that the upstream's model does not accept, for `x-gateway-dropped`. */
export type Dropped = { add(param: string): void };

export type RequestedThinking = {
  /** `thinking`, Anthropic's own parameter. */
  given: Record<string, unknown> | undefined;
  /** `none` switches reasoning off. */
  effort: ClaudeEffort | "none";
  /** Whether the request contains an effort, beside or without `thinking`. */
  isEffortGiven: boolean;
  budgetTokens: number | null;
};

/** Reads `thinking`, which takes precedence, and `reasoning_effort`. Null without either. */
export function readThinking(body: ChatRequestBody): RequestedThinking | null {
  const given = ifGiven(body["thinking"], "thinking", expectObject);
  const requested = readEffort(body["reasoning_effort"]);
  if (given === undefined) {
    if (requested === undefined) return null;
    return { given, effort: requested, isEffortGiven: true, budgetTokens: null };
  }
  const budget = ifGiven(given["budget_tokens"], "thinking.budget_tokens", expectNumber) ?? null;
  const type = given["type"];
  // `between_tools` is the least reasoning of Sonnet 5.5.
  const isOff = type === "disabled" || type === "between_tools";
  const isEffortGiven = requested !== undefined && requested !== "none";
  const implied = type === "enabled" && budget !== null ? effortOfBudget(budget) : "high";
  return {
    given,
    effort: isOff ? "none" : isEffortGiven ? requested : implied,
    isEffortGiven,
    budgetTokens: type === "enabled" ? budget : null,
  };
}

function readEffort(value: unknown): ClaudeEffort | "none" | undefined {
  const name = ifGiven(value, "reasoning_effort", expectString);
  if (name === undefined || name === "none" || isClaudeEffort(name)) return name;
  throw invalidValue("reasoning_effort", `must be one of none, ${claudeEfforts.join(", ")}`, name);
}

/** Separates the budgets of Claude Code (4,000, 10,000, 31,999) and of Google (1,024, 8,192, 24,576). */
function effortOfBudget(budgetTokens: number): "low" | "medium" | "high" {
  return budgetTokens < 6_000 ? "low" : budgetTokens < 16_000 ? "medium" : "high";
}

export type ClaudeEffort = "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/**
 * Returns the thinking budget for a Claude model without adaptive thinking. Null if the limit is too low.
 * https://platform.claude.com/docs/en/build-with-claude/extended-thinking
 * @param limitTokens the maximum tokens of the response, thinking included
 */
export function claudeBudgetTokens(effort: ClaudeEffort, limitTokens: number): number | null {
  const share = Math.floor(limitTokens * budgetShares[effort]);
  const budget = Math.min(Math.max(share, budgetTokensMin), budgetTokensMax);
  return budget < limitTokens ? budget : null;
}

function isClaudeEffort(name: string): name is ClaudeEffort {
  return Object.hasOwn(budgetShares, name);
}

/** The share of the response's limit that thinking may use. Most values are OpenRouter's. */
const budgetShares: Record<ClaudeEffort, number> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.9,
  max: 0.9,
};

const claudeEfforts = Object.keys(budgetShares);

const budgetTokensMin = 1_024;

/** Anthropic recommends batches for larger budgets, because long requests can time out. */
const budgetTokensMax = 32_000;

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

export function isClaudeEffort(name: string): name is ClaudeEffort {
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

export const claudeEfforts = Object.keys(budgetShares);

const budgetTokensMin = 1_024;

/** Anthropic recommends batches for larger budgets, because long requests can time out. */
const budgetTokensMax = 32_000;

/** OpenAI's names of how much a model shall think, without `none`. */
export type ClaudeEffort = "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/**
 * The budget of tokens for the thoughts of a Claude that does not decide itself how much it thinks; null where the limit
 * of the answer leaves no room for any. https://platform.claude.com/docs/en/build-with-claude/extended-thinking
 * @param limitTokens the most tokens of the answer, thoughts included: a budget must be less
 */
export function claudeBudgetTokens(effort: ClaudeEffort, limitTokens: number): number | null {
  const share = Math.floor(limitTokens * budgetShares[effort]);
  const budget = Math.min(Math.max(share, budgetTokensMin), budgetTokensMax);
  // A limit that the client has set is worth more than thoughts.
  return budget < limitTokens ? budget : null;
}

export function isClaudeEffort(name: string): name is ClaudeEffort {
  return Object.hasOwn(budgetShares, name);
}

/** How much of the limit is for thoughts; OpenRouter's numbers, in the main. */
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

/** With more, Anthropic advises against waiting for the answer on one connection. */
const budgetTokensMax = 32_000;

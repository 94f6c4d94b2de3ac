import type { ChatUsage } from "../../wire/chat-completion.ts";
import { readMessagesUsage, type UsageDetails } from "../../wire/token-usage.ts";

export type ReadUsage = { usage: ChatUsage | null; usageDetails: UsageDetails | undefined };

/** Merges all reports of one answer. */
export function readUsage(...reports: unknown[]): ReadUsage {
  const usage = readMessagesUsage(...reports);
  if (usage === null) return { usage: null, usageDetails: undefined };
  const { cached, cacheWrite, reasoning, details } = usage;
  const prompt = (usage.input ?? 0) + (cached ?? 0) + (cacheWrite ?? 0);
  const output = usage.output ?? 0;
  return {
    usage: {
      prompt_tokens: prompt,
      completion_tokens: output,
      total_tokens: prompt + output,
      prompt_tokens_details: {
        ...(cached !== null && { cached_tokens: cached }),
        ...(cacheWrite !== null && { cache_write_tokens: cacheWrite }),
      },
      ...(reasoning !== null && { completion_tokens_details: { reasoning_tokens: reasoning } }),
    },
    usageDetails: details,
  };
}

import type { ChatUsage } from "../../wire/chat-completion.ts";
import { readMessagesUsage } from "../../wire/messages-usage.ts";

/** Merges all usage reports of one response. */
export function readUsage(...reports: unknown[]): ChatUsage | null {
  const usage = readMessagesUsage(...reports);
  if (usage === null) return null;
  const { cached, cacheWrite, reasoning } = usage;
  const prompt = (usage.input ?? 0) + (cached ?? 0) + (cacheWrite ?? 0);
  const output = usage.output ?? 0;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: {
      ...(cached !== null && { cached_tokens: cached }),
      ...(cacheWrite !== null && { cache_write_tokens: cacheWrite }),
    },
    ...(reasoning !== null && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}

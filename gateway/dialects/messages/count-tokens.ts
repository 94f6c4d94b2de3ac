import type { DialectRequest } from "../dialect.ts";
import { countTextTokens } from "./count-text-tokens.ts";
import { collectCountable } from "./countable-content.ts";

/**
 * About how many tokens a request has, for upstreams that do not count themselves: the answer of `count_tokens`. Text is
 * counted as newer models of OpenAI do; other models' words are not much longer or shorter, except for Claude's since 4.7.
 * https://platform.claude.com/docs/en/build-with-claude/token-counting
 */
export async function countTokens({ body }: Pick<DialectRequest, "body">): Promise<{ input_tokens: number }> {
  const { texts, tokens } = collectCountable(body);
  return { input_tokens: tokens + (await countTextTokens(texts)) };
}

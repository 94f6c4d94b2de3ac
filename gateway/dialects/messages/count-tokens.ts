import type { DialectRequest } from "../dialect.ts";
import { countTextTokens } from "./count-text-tokens.ts";
import { collectCountable } from "./countable-content.ts";

/**
 * Estimates the tokens of a request, for upstreams without `count_tokens`, with the encoding of OpenAI's
 * newer models. Counts of other models are close, except for Claude from 4.7.
 * https://platform.claude.com/docs/en/build-with-claude/token-counting
 */
export async function countTokens({ body }: Pick<DialectRequest, "body">): Promise<{ input_tokens: number }> {
  const { texts, tokens } = collectCountable(body);
  return { input_tokens: tokens + (await countTextTokens(texts)) };
}

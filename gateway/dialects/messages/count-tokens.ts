import type { DialectRequest } from "../dialect.ts";
import { countTextTokens } from "./count-text-tokens.ts";
import { collectCountable } from "./countable-content.ts";

/**
 * Estimates the tokens of a request, for upstreams without a token count: the answer of `count_tokens`. Uses the
 * encoding of OpenAI's newer models. Other models' counts are close, except those of Claude from 4.7 on.
 * https://platform.claude.com/docs/en/build-with-claude/token-counting
 */
export async function countTokens({ body }: Pick<DialectRequest, "body">): Promise<{ input_tokens: number }> {
  const { texts, tokens } = collectCountable(body);
  return { input_tokens: tokens + (await countTextTokens(texts)) };
}

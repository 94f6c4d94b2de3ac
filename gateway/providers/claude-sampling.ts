import type { ChatRequestBody } from "../wire/chat-completion.ts";
import { expectNumber, ifGiven, unsupported, unsupportedValue } from "../wire/parameter-errors.ts";
import type { ClaudeTraits } from "./claude-models.ts";
import type { Dropped } from "./requested-thinking.ts";

export type ClaudeSampling = Record<"temperature" | "topP" | "topK", number | undefined>;

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

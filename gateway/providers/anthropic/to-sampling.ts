import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import { unsupported } from "../../wire/unsupported.ts";
import type { ClaudeTraits } from "./claude-traits.ts";
import { expectNumber, ifGiven } from "../../wire/expect-type.ts";
import type { MessagesRequest, Thinking } from "./messages-request.ts";

type Sampling = Pick<MessagesRequest, "temperature" | "top_p" | "top_k">;

/**
 * A temperature or `top_p` of 1 is left out: it is 1 anyway, and many models refuse both together, or even one of them.
 * https://platform.claude.com/docs/en/build-with-claude/extended-thinking#feature-compatibility
 */
export function toSampling(
  body: ChatRequestBody,
  { sampling }: ClaudeTraits,
  thinking: Thinking | undefined,
): Sampling {
  const temperature = unlessNeutral(ifGiven(body["temperature"], "temperature", expectNumber));
  const topP = unlessNeutral(ifGiven(body["top_p"], "top_p", expectNumber));
  const topK = ifGiven(body["top_k"], "top_k", expectNumber);
  if (temperature !== undefined && temperature > 1) {
    throw unsupported("temperature", "Claude takes values from 0 to 1.");
  }
  if (sampling === "never") {
    const why = "This model chooses its words by itself; leave it out.";
    if (temperature !== undefined) throw unsupported("temperature", why);
    if (topP !== undefined) throw unsupported("top_p", why);
    if (topK !== undefined) throw unsupported("top_k", why);
  }
  if (sampling === "not while thinking" && isThinking(thinking)) {
    const why = "Claude does not take it while it thinks; leave it out, or leave out reasoning_effort.";
    if (temperature !== undefined) throw unsupported("temperature", why);
    if (topP !== undefined && topP < thinkingTopPMin) throw unsupported("top_p", why);
    if (topK !== undefined) throw unsupported("top_k", why);
  }
  return { temperature, top_p: topP, top_k: topK };
}

const thinkingTopPMin = 0.95;

function unlessNeutral(value: number | undefined): number | undefined {
  return value === 1 ? undefined : value;
}

function isThinking(thinking: Thinking | undefined): boolean {
  return thinking?.type === "enabled" || thinking?.type === "adaptive";
}

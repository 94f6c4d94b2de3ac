import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import { expectString, ifGiven } from "../../wire/expect-type.ts";
import { invalidValue } from "../../wire/parameter-errors.ts";
import { type Effort, efforts, type Situation, type ThinkingRules } from "./thinking-rules.ts";
import { toClaudeThinking } from "./to-claude-thinking.ts";

/** How much the model shall think, in its own words. It is a wish: where it cannot be had, the model does as it does. */
export function toThinking(body: ChatRequestBody, situation: Situation): ThinkingRules {
  const effort = readEffort(body["reasoning_effort"]);
  return situation.family.name === "claude"
    ? toClaudeThinking(body, effort, situation)
    : { fields: effort === null ? {} : toFields(effort, body, situation), claudeThinks: false };
}

function toFields(
  effort: Effort,
  body: ChatRequestBody,
  { family, maxTokens }: Situation,
): Record<string, unknown> {
  const step = toStep(effort);
  switch (family.name) {
    case "gpt":
      return { reasoning: { effort } };
    // https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-openai.html
    case "gpt-oss":
      return step === null ? {} : { reasoning_effort: step };
    // https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html
    case "nova": {
      if (step === null || family.version < 200) return {};
      // It thinks hard only where nothing limits its answer.
      const limits = [maxTokens, body["temperature"], body["top_p"]];
      const isLimited = limits.some((limit) => typeof limit === "number");
      const maxReasoningEffort = step === "high" && isLimited ? "medium" : step;
      return { reasoningConfig: { type: "enabled", maxReasoningEffort } };
    }
    default:
      return {};
  }
}

function readEffort(value: unknown): Effort | null {
  const name = ifGiven(value, "reasoning_effort", expectString);
  if (name === undefined) return null;
  const effort = efforts.find((known) => known === name);
  if (effort) return effort;
  throw invalidValue("reasoning_effort", `must be one of ${efforts.join(", ")}`);
}

/** For models that know three; null for none. */
function toStep(effort: Effort): "low" | "medium" | "high" | null {
  if (effort === "none") return null;
  if (effort === "minimal" || effort === "low") return "low";
  return effort === "medium" ? "medium" : "high";
}

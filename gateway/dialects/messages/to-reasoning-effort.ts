import { invalidType, invalidValue } from "../../wire/parameter-errors.ts";
import { expectObject, expectString, ifGiven } from "../../wire/expect-type.ts";

/**
 * How much the model shall think, in OpenAI's names, which are Anthropic's too: as `output_config.effort` says, or else as
 * the budget does. For Anthropic, no effort is the same as `high`, so that is what adaptive thinking without one asks for.
 * A model that may not think is not told so: most upstreams refuse `none`, and those that cannot think need not hear it.
 * https://platform.claude.com/docs/en/build-with-claude/effort
 */
export function toReasoningEffort(body: Record<string, unknown>): string | undefined {
  const thinking = ifGiven(body["thinking"], "thinking", expectObject) ?? {};
  const { effort: asked } = ifGiven(body["output_config"], "output_config", expectObject) ?? {};
  const effort = ifGiven(asked, "output_config.effort", expectString);
  if (effort !== undefined && !efforts.includes(effort)) {
    throw invalidValue("output_config.effort", `must be one of ${efforts.join(", ")}`);
  }
  switch (thinking["type"]) {
    case "disabled":
      return undefined;
    case "adaptive":
      return effort ?? "high";
    case "enabled":
      return effort ?? toEffort(thinking["budget_tokens"]);
    default:
      return effort;
  }
}

const efforts = ["low", "medium", "high", "xhigh", "max"];

/**
 * Between the budgets that Claude Code has had for a little, more and much thinking (4,000, 10,000 and 31,999), and those
 * that Google counts out for OpenAI's names (1,024, 8,192 and 24,576).
 */
function toEffort(budget: unknown): string | undefined {
  if (budget === undefined || budget === null) return undefined;
  if (typeof budget !== "number") throw invalidType("thinking.budget_tokens", "a number", budget);
  return budget < 6_000 ? "low" : budget < 16_000 ? "medium" : "high";
}

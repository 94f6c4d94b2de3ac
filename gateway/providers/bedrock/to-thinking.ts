import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import { expectObject, expectString, ifGiven, invalidValue } from "../../wire/parameter-errors.ts";
import { claudeBudgetTokens, type ClaudeEffort } from "../claude-budget.ts";
import type { ConverseMessage } from "./converse-request.ts";
import type { UpstreamModel } from "../provider.ts";
import type { ModelFamily } from "./model-family.ts";

/**
 * Converts the reasoning effort to the model's own parameter. Without an equivalent, the model's default
 * applies.
 */
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
      // Nova rejects high effort with a token limit, `temperature` or `top_p`.
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
  throw invalidValue("reasoning_effort", `must be one of ${efforts.join(", ")}`, name);
}

function toStep(effort: Effort): "low" | "medium" | "high" | null {
  if (effort === "none") return null;
  if (effort === "minimal" || effort === "low") return "low";
  return effort === "medium" ? "medium" : "high";
}

/**
 * `thinking`, Anthropic's own parameter, takes precedence over `reasoning_effort`.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html
 */
function toClaudeThinking(body: ChatRequestBody, effort: Effort | null, situation: Situation): ThinkingRules {
  const given = ifGiven(body["thinking"], "thinking", expectObject);
  const { thinking, ...fields } = given ? { thinking: given } : fieldsFor(effort, situation);
  if (thinking === undefined) return { fields, claudeThinks: false };
  if (thinking["type"] === "disabled") return { fields: { thinking }, claudeThinks: false };

  const hasBudget = thinking["type"] === "enabled";
  // A forced tool takes precedence over thinking. Claude rejects both together.
  if (situation.isToolForced || (hasBudget && continuesWithoutThought(situation.messages))) {
    return { fields: {}, claudeThinks: false };
  }
  const maxTokens = hasBudget ? limitOf(situation) : undefined;
  return { fields: { ...fields, thinking }, maxTokens, claudeThinks: true };
}

type ClaudeFields = { thinking?: Record<string, unknown>; output_config?: { effort: string } };

function fieldsFor(effort: Effort | null, situation: Situation): ClaudeFields {
  const { version } = situation.family;
  if (effort === null) return {};
  // From version 5, Claude reasons by default. Some models cannot disable reasoning.
  if (effort === "none") return version >= 500 ? { output_config: { effort: "low" } } : {};
  if (version < 307) return {};
  return version >= 406 ? adaptiveFields(effort, version) : budgetFields(effort, limitOf(situation));
}

/** https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-adaptive-thinking.html */
function adaptiveFields(effort: ClaudeEffort, version: number): ClaudeFields {
  const isSince47 = version >= 407;
  const name = effort === "minimal" ? "low" : effort === "xhigh" && !isSince47 ? "high" : effort;
  return {
    // Newer models hide their reasoning unless `display` is set. Older models reject `display`.
    thinking: isSince47 ? { type: "adaptive", display: "summarized" } : { type: "adaptive" },
    output_config: { effort: name },
  };
}

function budgetFields(effort: ClaudeEffort, limitTokens: number): ClaudeFields {
  const budget = claudeBudgetTokens(effort, limitTokens);
  return budget === null ? {} : { thinking: { type: "enabled", budget_tokens: budget } };
}

function limitOf({ maxTokens, model }: Situation): number {
  return maxTokens ?? model.outputTokensMax ?? leastOutputTokensMax;
}

/** The lowest output limit of the Claude models with a thinking budget. */
const leastOutputTokensMax = 32_000;

/**
 * Whether the response continues an assistant turn that does not start with thinking, usually after tool calls.
 * Claude then rejects a thinking budget. Adaptive models accept such a turn.
 */
function continuesWithoutThought(messages: ConverseMessage[]): boolean {
  const lastUserIndex = messages.findLastIndex(
    ({ role, content }) => role === "user" && !content.some((block) => "toolResult" in block),
  );
  const first = messages.slice(lastUserIndex + 1).find(({ role }) => role === "assistant")?.content[0];
  return first !== undefined && !("reasoningContent" in first);
}

export type ThinkingRules = {
  fields: Record<string, unknown>;
  /** The maximum tokens of the response, if thinking requires a limit. */
  maxTokens?: number | undefined;
  /** Whether Claude will think. Claude then rejects some parameters. */
  claudeThinks: boolean;
};

export type Situation = {
  family: ModelFamily;
  model: UpstreamModel;
  messages: ConverseMessage[];
  isToolForced: boolean;
  maxTokens: number | undefined;
};

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

type Effort = (typeof efforts)[number];

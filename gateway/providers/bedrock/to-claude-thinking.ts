import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import { claudeBudgetTokens, type ClaudeEffort } from "../claude-budget.ts";
import type { ConverseMessage } from "./converse-request.ts";
import { expectObject, ifGiven } from "../../wire/expect-type.ts";
import type { Effort, Situation, ThinkingRules } from "./thinking-rules.ts";

/**
 * How much Claude shall think: as `thinking` says, for clients that know Anthropic's own parameter, or else as
 * `reasoning_effort` does. https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html
 */
export function toClaudeThinking(
  body: ChatRequestBody,
  effort: Effort | null,
  situation: Situation,
): ThinkingRules {
  const given = ifGiven(body["thinking"], "thinking", expectObject);
  const { thinking, ...fields } = given ? { thinking: given } : fieldsFor(effort, situation);
  if (thinking === undefined) return { fields, claudeThinks: false };
  if (thinking["type"] === "disabled") return { fields: { thinking }, claudeThinks: false };

  const hasBudget = thinking["type"] === "enabled";
  // A tool that must be called is worth more than thoughts; Claude refuses both together.
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
  // From 5 on, Claude thinks unless it is told not to, and not each lets itself be told.
  if (effort === "none") return version >= 500 ? { output_config: { effort: "low" } } : {};
  if (version < 307) return {};
  return version >= 406 ? adaptiveFields(effort, version) : budgetFields(effort, limitOf(situation));
}

/** https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-adaptive-thinking.html */
function adaptiveFields(effort: ClaudeEffort, version: number): ClaudeFields {
  const isSince47 = version >= 407;
  const name = effort === "minimal" ? "low" : effort === "xhigh" && !isSince47 ? "high" : effort;
  return {
    // By default, newer models keep their thoughts to themselves; older ones do not know the field.
    thinking: isSince47 ? { type: "adaptive", display: "summarized" } : { type: "adaptive" },
    output_config: { effort: name },
  };
}

function budgetFields(effort: ClaudeEffort, limitTokens: number): ClaudeFields {
  const budget = claudeBudgetTokens(effort, limitTokens);
  return budget === null ? {} : { thinking: { type: "enabled", budget_tokens: budget } };
}

/** The most tokens of the answer, thoughts included: a budget must be less. */
function limitOf({ maxTokens, model }: Situation): number {
  return maxTokens ?? model.outputTokensMax ?? leastOutputTokensMax;
}

/** What every Claude that gets a budget can answer with. */
const leastOutputTokensMax = 32_000;

/**
 * Whether the answer goes on with a turn of the assistant's, after tool calls, whose thoughts the client has not sent back.
 * With a budget, Claude then refuses to think; models that decide themselves do not mind.
 */
function continuesWithoutThought(messages: ConverseMessage[]): boolean {
  const asked = messages.findLastIndex(
    ({ role, content }) => role === "user" && !content.some((block) => "toolResult" in block),
  );
  const first = messages.slice(asked + 1).find(({ role }) => role === "assistant")?.content[0];
  return first !== undefined && !("reasoningContent" in first);
}

import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import type { ClaudeTraits } from "../claude-models.ts";
import { toClaudeThinking as toOrder } from "../claude-thinking.ts";
import type { UpstreamModel } from "../provider.ts";
import { type Dropped, readThinking } from "../requested-thinking.ts";
import type { ConverseMessage } from "./converse-request.ts";
import type { ModelFamily } from "./model-family.ts";

/**
 * Converts the reasoning effort to the model's own parameter. Without an equivalent, the model's default
 * applies.
 */
export function toThinking(body: ChatRequestBody, situation: Situation): ThinkingRules {
  const { claude } = situation.family;
  return claude === null
    ? { fields: toFields(body, situation), claudeThinks: false }
    : toClaudeThinking(body, claude, situation);
}

function toFields(body: ChatRequestBody, { family, maxTokens, dropped }: Situation): Record<string, unknown> {
  const requested = readThinking(body);
  if (requested === null) return {};
  if (requested.budgetTokens !== null) dropped.add("thinking.budget_tokens");
  const { effort } = requested;
  const step = effort === "medium" || effort === "high" ? effort : toStep(effort);
  switch (family.name) {
    case "gpt":
      return { reasoning: { effort } };
    // The model always reasons. https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-openai.html
    case "gpt-oss":
      return { reasoning_effort: step };
    // https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html
    case "nova": {
      if (effort === "none" || !family.isNova2) return {};
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

function toStep(effort: "none" | "minimal" | "low" | "xhigh" | "max"): "low" | "high" {
  return effort === "xhigh" || effort === "max" ? "high" : "low";
}

/** https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html */
function toClaudeThinking(
  body: ChatRequestBody,
  traits: ClaudeTraits,
  { messages, isToolForced, maxTokens, model, dropped }: Situation,
): ThinkingRules {
  const limitTokens = maxTokens ?? model.outputTokensMax ?? leastOutputTokensMax;
  const continues = continuesWithoutThought(messages);
  const situation = { traits, isToolForced, continuesWithoutThought: continues, limitTokens, dropped };
  const { thinking: order, effort } = toOrder(body, situation);
  const fields = effort === undefined ? {} : { output_config: { effort } };
  if (order === undefined) return { fields, claudeThinks: false };

  const { display, ...thinking } = order;
  const isShown = display !== undefined && traits.takesDisplay;
  if (display !== undefined && !isShown && isObject(body["thinking"])) dropped.add("thinking.display");
  return {
    fields: { ...fields, thinking: isShown ? order : thinking },
    maxTokens: order["type"] === "enabled" ? limitTokens : undefined,
    claudeThinks: order["type"] === "enabled" || order["type"] === "adaptive",
  };
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
  dropped: Dropped;
};

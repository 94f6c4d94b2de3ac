import { createHash } from "node:crypto";
import { openSeal } from "./thought-seal.ts";
import { asFields, asList, demand, type Fields, onlyKnown } from "./vendor-refusal.ts";

export type ClaudeModel = {
  name: string;
  /**
   * `by budget` accepts a token budget and `adaptive` an effort; both are off by default. `always` cannot be
   * disabled, and binds thoughts to the earlier conversation.
   */
  thinking: "by budget" | "adaptive" | "always";
  /** The default of `thinking.display`. */
  defaultDisplay: "summarized" | "omitted";
  outputTokensMax: number;
  /** Whether system messages may appear mid-conversation, as in models from Opus 4.8. */
  takesSystemMessages?: true;
};

export type ClaudeThinking = {
  isOn: boolean;
  isOmitted: boolean;
  /** The messages, without the thoughts that the model drops. */
  messages: unknown[];
  prefix: string;
};

/**
 * Validates a request's thinking settings and the thoughts in its messages.
 * https://platform.claude.com/docs/en/build-with-claude/extended-thinking
 * https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking
 * https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks
 * https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5
 */
export function readThinking(body: Fields, model: ClaudeModel, betas: string): ClaudeThinking {
  const byDefault = { type: model.thinking === "always" ? "adaptive" : "disabled" };
  const thinking = asFields(body["thinking"] ?? byDefault, "thinking");
  const type = String(thinking["type"]);
  const known = betas.includes("thinking-binding-controls-2026-08-01") ? "block_binding" : "";
  onlyKnown(
    thinking,
    `type budget_tokens display ${known}`,
    (name) => `thinking.${type}.${name}: Extra inputs are not permitted`,
  );
  if (model.thinking === "by budget") checkBudget(body, thinking);
  else checkAdaptive(body, type, model);
  const isOmitted = (thinking["display"] ?? model.defaultDisplay) === "omitted";
  const messages = asList(body["messages"], "messages");
  const isSilent =
    model.thinking === "by budget" ? goesOnAfterTools(messages) : model.thinking === "always" && isOmitted;
  return {
    isOn: type !== "disabled" && !isSilent,
    isOmitted,
    messages: model.thinking === "always" ? withBoundThoughts(body, messages, thinking) : messages,
    prefix: model.thinking === "always" ? prefixOf(body, messages) : "",
  };
}

/** Checks the rules of Opus 4.7 and later models. */
function checkAdaptive(body: Fields, type: string, model: ClaudeModel): void {
  const isKnown = type === "adaptive" || (type === "disabled" && model.thinking !== "always");
  demand(
    isKnown,
    `"thinking.type.${type}" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`,
  );
  for (const name of ["temperature", "top_p", "top_k"]) {
    demand(body[name] === undefined, `\`${name}\` is deprecated for this model.`);
  }
  if (type === "adaptive") demandFreeChoice(body);
}

function demandFreeChoice(body: Fields): void {
  const { type } = asFields(body["tool_choice"] ?? { type: "auto" }, "tool_choice");
  demand(type === "auto" || type === "none", "Thinking may not be enabled when tool_choice forces tool use.");
}

function checkBudget(body: Fields, thinking: Fields): void {
  demand(thinking["type"] !== "adaptive", "adaptive thinking is not supported on this model");
  const { effort } = asFields(body["output_config"] ?? {}, "output_config");
  demand(effort === undefined, "This model does not support the effort parameter.");
  if (thinking["type"] !== "enabled") return;
  demandFreeChoice(body);
  const budget = Number(thinking["budget_tokens"]);
  demand(budget >= 1024, "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024");
  demand(budget < Number(body["max_tokens"]), "`max_tokens` must be greater than `thinking.budget_tokens`.");
  demand((body["temperature"] ?? 1) === 1, "`temperature` may only be set to 1 when thinking is enabled.");
  demand(body["top_k"] === undefined, "`top_k` must be unset when thinking is enabled.");
  demandThoughts(asList(body["messages"], "messages"));
}

/** Models with a budget think only before the first tool call of a turn, so they skip thinking after a result. */
function goesOnAfterTools(messages: unknown[]): boolean {
  return typesIn(messages.at(-1)).includes("tool_result");
}

/** Throws unless a turn that continues after results starts with its thoughts. */
function demandThoughts(messages: unknown[]): void {
  if (!goesOnAfterTools(messages)) return;
  const at =
    messages.findLastIndex(
      (each) => asFields(each, "messages")["role"] === "user" && !typesIn(each).includes("tool_result"),
    ) + 1;
  const first = String(typesIn(messages[at])[0]);
  demand(
    first === "thinking" || first === "redacted_thinking",
    `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`,
  );
}

function typesIn(message: unknown): unknown[] {
  const { content } = asFields(message, "messages");
  return Array.isArray(content) ? content.map((block) => asFields(block, "content")["type"]) : ["text"];
}

/**
 * Drops other models' thoughts. Rejects the model's own thoughts after a changed prefix, or drops them on request.
 * https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
 */
function withBoundThoughts(body: Fields, messages: unknown[], thinking: Fields): unknown[] {
  const { prefix_mismatch_behavior: behavior } = asFields(thinking["block_binding"] ?? {}, "block_binding");
  return messages.map((each, at) => {
    const { content, ...message } = asFields(each, `messages.${at}`);
    if (!Array.isArray(content)) return each;
    const prefix = prefixOf(body, messages.slice(0, at));
    const kept = content.filter((block, index) => {
      const { type, signature } = asFields(block, `messages.${at}.content`);
      const bound = openSeal(signature)?.prefix;
      // Thoughts of other models are unbound.
      if (type === "thinking" && bound === "") return false;
      const fits = type !== "thinking" || bound === prefix;
      demand(
        fits || behavior === "drop_block",
        `messages.${at}.content.${index}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".`,
      );
      return fits;
    });
    return { ...message, content: kept };
  });
}

/** Ignores cache markers, which clients move between turns. Treats a text as a list with one text block. */
function prefixOf({ system, tools }: Fields, messages: unknown[]): string {
  const prefix = JSON.stringify([system, tools, messages], (name, value: unknown) => {
    if (name === "cache_control") return undefined;
    return name === "content" && typeof value === "string" ? [{ type: "text", text: value }] : value;
  });
  return createHash("sha256").update(prefix).digest("hex");
}

import { type ChatRequestBody, isObject } from "../../wire/chat-completion.ts";
import { googleOptions } from "./google-options.ts";
import { invalidValue } from "../../wire/parameter-errors.ts";
import type { ModelTraits } from "./model-traits.ts";

/**
 * How much the model thinks, and whether it shows its thoughts: by `reasoning_effort`, or in Google's own words.
 * Undefined leaves it to the model, which thinks in silence.
 */
export function thinkingConfig(body: ChatRequestBody, traits: ModelTraits): object | undefined {
  const own = googleOptions(body)["thinking_config"] ?? body["thinking_config"];
  if (isObject(own)) return own;
  const effort = body["reasoning_effort"];
  if (effort === undefined || effort === null) return undefined;
  const amount = typeof effort === "string" ? amounts.get(effort) : undefined;
  if (!amount) {
    throw invalidValue("reasoning_effort", `must be one of ${[...amounts.keys()].join(", ")}`);
  }
  const includeThoughts = effort !== "none";
  if (!traits.thinksByBudget) return { thinkingLevel: amount.level, includeThoughts };
  const isRefused = amount.budget === 0 && traits.cannotStopThinking;
  return { thinkingBudget: isRefused ? leastBudget : amount.budget, includeThoughts };
}

/**
 * Tokens as Google's own imitation of chat completions counts them out. The lowest level is LOW, since many models refuse
 * MINIMAL and none can be kept from thinking by a level. https://ai.google.dev/gemini-api/docs/openai#thinking
 */
const amounts = new Map([
  ["none", { level: "LOW", budget: 0 }],
  ["minimal", { level: "LOW", budget: 1_024 }],
  ["low", { level: "LOW", budget: 1_024 }],
  ["medium", { level: "MEDIUM", budget: 8_192 }],
  ["high", { level: "HIGH", budget: 24_576 }],
  ["xhigh", { level: "HIGH", budget: 24_576 }],
  ["max", { level: "HIGH", budget: 24_576 }],
]);

/** Of models that cannot do without. https://ai.google.dev/gemini-api/docs/thinking#set-budget */
const leastBudget = 128;

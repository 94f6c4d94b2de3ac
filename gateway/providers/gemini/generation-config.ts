import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import { unsupported, invalidValue } from "../../wire/parameter-errors.ts";

/** https://ai.google.dev/api/generate-content#generationconfig */
export function generationConfig(body: ChatRequestBody, traits: ModelTraits): object {
  const count = numberIn(body, "n");
  return {
    temperature: numberIn(body, "temperature"),
    topP: numberIn(body, "top_p"),
    topK: numberIn(body, "top_k"),
    maxOutputTokens: numberIn(body, "max_completion_tokens") ?? numberIn(body, "max_tokens"),
    stopSequences: stopSequences(body["stop"]),
    candidateCount: count === 1 ? undefined : count,
    seed: seed(body["seed"]),
    // Models without penalties reject even a penalty of 0.
    presencePenalty: numberIn(body, "presence_penalty") || undefined,
    frequencyPenalty: numberIn(body, "frequency_penalty") || undefined,
    ...logprobs(body),
    ...responseFormat(body["response_format"]),
    thinkingConfig: thinkingConfig(body, traits),
  };
}

function numberIn(body: ChatRequestBody, name: string): number | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && typeof value !== "number") throw invalidValue(name, "must be a number", value);
  return value;
}

function stopSequences(stop: unknown): string[] | undefined {
  if (stop === undefined || stop === null) return undefined;
  const sequences: unknown[] = Array.isArray(stop) ? stop : [stop];
  if (!sequences.every((sequence) => typeof sequence === "string")) {
    throw invalidValue("stop", "must be a string or an array of strings");
  }
  if (sequences.length > stopSequencesMax) {
    throw unsupported(
      "stop",
      `Gemini accepts at most ${stopSequencesMax} stop sequences. Remove some of them.`,
    );
  }
  return sequences.length === 0 ? undefined : sequences;
}

/** Gemini's seed has 32 bits. Longer seeds are omitted, because a seed is best effort. */
function seed(value: unknown): number | undefined {
  return typeof value === "number" && (value | 0) === value ? value : undefined;
}

function logprobs(body: ChatRequestBody): object {
  if (body["logprobs"] !== true) return {};
  return { responseLogprobs: true, logprobs: numberIn(body, "top_logprobs") || undefined };
}

/** https://ai.google.dev/gemini-api/docs/structured-output */
function responseFormat(format: unknown): object {
  if (format === undefined || format === null) return {};
  const type = isObject(format) ? format["type"] : null;
  if (type === "text") return {};
  if (type === "json_object") return { responseMimeType: "application/json" };
  const named = isObject(format) && type === "json_schema" ? format["json_schema"] : null;
  if (!isObject(named)) {
    const rule =
      type === "json_schema"
        ? "must contain json_schema"
        : "must have the type text, json_object or json_schema";
    throw invalidValue("response_format", rule, type);
  }
  return { responseMimeType: "application/json", responseJsonSchema: named["schema"] ?? undefined };
}

const stopSequencesMax = 5;

/**
 * Google's own `thinking_config` takes precedence over `reasoning_effort`. Undefined keeps the model's default, which
 * hides reasoning.
 */
function thinkingConfig(body: ChatRequestBody, traits: ModelTraits): object | undefined {
  const own = googleOptions(body)["thinking_config"] ?? body["thinking_config"];
  if (isObject(own)) return own;
  const effort = body["reasoning_effort"];
  if (effort === undefined || effort === null) return undefined;
  const amount = typeof effort === "string" ? amounts.get(effort) : undefined;
  if (!amount) {
    throw invalidValue("reasoning_effort", `must be one of ${[...amounts.keys()].join(", ")}`, effort);
  }
  const includeThoughts = effort !== "none";
  if (!traits.thinksByBudget) return { thinkingLevel: amount.level, includeThoughts };
  const isRefused = amount.budget === 0 && traits.cannotStopThinking;
  return { thinkingBudget: isRefused ? leastBudget : amount.budget, includeThoughts };
}

/**
 * The budgets come from Google's OpenAI compatibility. The lowest level is LOW, because many models reject MINIMAL.
 * https://ai.google.dev/gemini-api/docs/openai#thinking
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

/**
 * The minimum token budget of models that always think. https://ai.google.dev/gemini-api/docs/thinking#set-budget
 */
const leastBudget = 128;

/**
 * Reads the Gemini extensions of Google's OpenAI compatibility: `cached_content` and `thinking_config`.
 * https://ai.google.dev/gemini-api/docs/openai#extra-body
 */
export function googleOptions(body: ChatRequestBody): Record<string, unknown> {
  const extra = body["extra_body"];
  const options = isObject(extra) ? extra["google"] : null;
  return isObject(options) ? options : {};
}

export type ModelTraits = {
  /** Whether the model accepts a token budget for thinking. If not, the gateway sends a level. */
  thinksByBudget: boolean;
  cannotStopThinking: boolean;
  /** Whether the model rejects earlier function calls without a thought signature. */
  needsSignatures: boolean;
  takesMediaInResults: boolean;
  takesSystemInstruction: boolean;
};

/**
 * Unknown names of Gemini models, and aliases such as `gemini-flash-latest`, count as the newest models.
 * https://ai.google.dev/gemini-api/docs/thinking, https://ai.google.dev/gemini-api/docs/thought-signatures,
 * https://ai.google.dev/gemma/docs/core/prompt-structure (Gemma 3 has no system instructions)
 */
export function modelTraits(modelName: string): ModelTraits {
  const name = bareModelName(modelName).toLowerCase();
  const thinksByBudget = /^gemini-(2\.5|robotics-er-1\.5)\b/.test(name);
  const isGemini3OrLater = name.startsWith("gemini-") && !thinksByBudget && !/^gemini-[12][.-]/.test(name);
  return {
    thinksByBudget,
    cannotStopThinking: /^gemini-2\.5-pro\b/.test(name),
    needsSignatures: isGemini3OrLater,
    takesMediaInResults: isGemini3OrLater,
    takesSystemInstruction: !/^gemma-3n?\b/.test(name),
  };
}

/** The name may start with `models/`, as in Google's lists. */
export function modelPath(name: string): string {
  return `/models/${encodeURIComponent(bareModelName(name).toWellFormed())}`;
}

export function bareModelName(name: string): string {
  return name.replace(/^models\//, "");
}

import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import { unsupported, invalidValue } from "../../wire/parameter-errors.ts";
import { type Dropped, readThinking } from "../requested-thinking.ts";

/** https://ai.google.dev/api/generate-content#generationconfig */
export function generationConfig(body: ChatRequestBody, traits: ModelTraits, dropped: Dropped): object {
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
    ...(asksInWords(body, traits) ? {} : responseFormat(body["response_format"])),
    thinkingConfig: thinkingConfig(body, traits, dropped),
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

/** Whether words replace JSON output, which older models reject beside tools. */
function asksInWords(body: ChatRequestBody, { takesToolsWithFormat }: ModelTraits): boolean {
  const { tools } = body;
  return !takesToolsWithFormat && Array.isArray(tools) && tools.length > 0;
}

/**
 * The instruction in place of JSON output, or null. With a forced tool, the answer is a call.
 * https://github.com/googleapis/python-genai/issues/867
 */
export function formatInWords(body: ChatRequestBody, traits: ModelTraits, dropped: Dropped): string | null {
  const format: { responseMimeType?: string; responseJsonSchema?: unknown } = responseFormat(
    body["response_format"],
  );
  if (format.responseMimeType === undefined || !asksInWords(body, traits)) return null;
  dropped.add("response_format");
  if (isForced(body["tool_choice"])) return null;
  const schema = format.responseJsonSchema;
  const words =
    "Unless you call a tool, respond with one valid JSON object and nothing else, without a code fence.";
  return schema === undefined ? words : `${words} It must match this JSON schema:\n${JSON.stringify(schema)}`;
}

function isForced(choice: unknown): boolean {
  if (!isObject(choice)) return choice === "required";
  const { allowed_tools: allowed } = choice;
  return choice["type"] === "function" || (isObject(allowed) && allowed["mode"] === "required");
}

const stopSequencesMax = 5;

/**
 * Google's own `thinking_config` takes precedence over `reasoning_effort`. Undefined keeps the model's default, which
 * hides reasoning.
 */
function thinkingConfig(body: ChatRequestBody, traits: ModelTraits, dropped: Dropped): object | undefined {
  const own = googleOptions(body)["thinking_config"] ?? body["thinking_config"];
  if (isObject(own)) return own;
  const requested = readThinking(body);
  if (requested === null) return undefined;
  const { effort, budgetTokens, given } = requested;
  const amount = amounts[effort];
  const includeThoughts = effort !== "none" && given?.["display"] !== "omitted";
  if (!traits.thinksByBudget) {
    if (budgetTokens !== null) dropped.add("thinking.budget_tokens");
    const isLeast = amount.budget === 0 || effort === "minimal";
    return { thinkingLevel: isLeast ? traits.leastLevel : amount.level, includeThoughts };
  }
  const budget = Math.min(budgetTokens ?? amount.budget, traits.budgetTokensMax);
  return { thinkingBudget: Math.max(budget, budget === 0 ? traits.leastBudget : 1), includeThoughts };
}

/**
 * The budgets come from Google's OpenAI compatibility.
 * https://ai.google.dev/gemini-api/docs/openai#thinking
 */
const amounts = {
  none: { level: "LOW", budget: 0 },
  minimal: { level: "LOW", budget: 1_024 },
  low: { level: "LOW", budget: 1_024 },
  medium: { level: "MEDIUM", budget: 8_192 },
  high: { level: "HIGH", budget: 24_576 },
  xhigh: { level: "HIGH", budget: 24_576 },
  max: { level: "HIGH", budget: 24_576 },
};

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
  /** The least and the greatest budget. https://ai.google.dev/gemini-api/docs/thinking#set-budget */
  leastBudget: number;
  budgetTokensMax: number;
  /** The lowest level. Pro models reject `MINIMAL`. https://ai.google.dev/gemini-api/docs/thinking#levels */
  leastLevel: "MINIMAL" | "LOW";
  /** Whether the model accepts tools beside JSON output. Others answer 400. */
  takesToolsWithFormat: boolean;
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
  const isPro25 = /^gemini-2\.5-pro\b/.test(name);
  return {
    thinksByBudget,
    leastBudget: isPro25 ? 128 : 0,
    budgetTokensMax: isPro25 ? 32_768 : 24_576,
    leastLevel: name.includes("flash") ? "MINIMAL" : "LOW",
    takesToolsWithFormat: isGemini3OrLater,
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

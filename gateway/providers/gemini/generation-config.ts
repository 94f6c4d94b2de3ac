import { type ChatRequestBody, isObject } from "../../wire/chat-completion.ts";
import { unsupported } from "../../wire/unsupported.ts";
import { invalidValue } from "../../wire/parameter-errors.ts";
import type { ModelTraits } from "./model-traits.ts";
import { thinkingConfig } from "./thinking-config.ts";

/** How the answer is to be made. https://ai.google.dev/api/generate-content#generationconfig */
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
    // Models without penalties refuse even those that do nothing.
    presencePenalty: numberIn(body, "presence_penalty") || undefined,
    frequencyPenalty: numberIn(body, "frequency_penalty") || undefined,
    ...logprobs(body),
    ...responseFormat(body["response_format"]),
    thinkingConfig: thinkingConfig(body, traits),
  };
}

function numberIn(body: ChatRequestBody, name: string): number | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && typeof value !== "number") throw invalidValue(name, "must be a number");
  return value;
}

function stopSequences(stop: unknown): string[] | undefined {
  if (stop === undefined || stop === null) return undefined;
  const sequences: unknown[] = Array.isArray(stop) ? stop : [stop];
  if (!sequences.every((sequence) => typeof sequence === "string")) {
    throw invalidValue("stop", "must be a string or an array of strings");
  }
  if (sequences.length > stopSequencesMax) {
    throw unsupported("stop", `Gemini takes at most ${stopSequencesMax} sequences.`);
  }
  return sequences.length === 0 ? undefined : sequences;
}

/** Gemini's has 32 bits. It is a wish, so a longer one is left out. */
function seed(value: unknown): number | undefined {
  return typeof value === "number" && (value | 0) === value ? value : undefined;
}

function logprobs(body: ChatRequestBody): object {
  if (body["logprobs"] !== true) return {};
  return { responseLogprobs: true, logprobs: numberIn(body, "top_logprobs") || undefined };
}

/** Gemini takes JSON schemas as they are. https://ai.google.dev/gemini-api/docs/structured-output */
function responseFormat(format: unknown): object {
  if (format === undefined || format === null) return {};
  const type = isObject(format) ? format["type"] : null;
  if (type === "text") return {};
  if (type === "json_object") return { responseMimeType: "application/json" };
  const named = isObject(format) && type === "json_schema" ? format["json_schema"] : null;
  if (!isObject(named)) {
    throw invalidValue("response_format", "must be of the type text, json_object or json_schema");
  }
  return { responseMimeType: "application/json", responseJsonSchema: named["schema"] ?? undefined };
}

const stopSequencesMax = 5;

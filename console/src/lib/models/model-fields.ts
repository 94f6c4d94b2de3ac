import type { Inputs, Outputs } from "#lib/session/api.ts";
import { readNumber, writeNumber } from "#lib/read-number.ts";

export type Model = Outputs["models"]["get"];
type KnownModel = Outputs["models"]["known"][number];

/** The editable fields of a model, as text. Empty means unknown. */
export const modelFields = {
  upstreamModel: "The provider model ID",
  contextWindow: "The context window",
  outputTokensMax: "The output limit",
  input: "The input price",
  cachedInput: "The cached input price",
  cacheWrite: "The cache write price",
  output: "The output price",
  fallbacks: "The list of fallbacks",
};

export type ModelField = keyof typeof modelFields;
export type ModelText = Record<ModelField, string>;

export const priceFields = [
  { name: "input", label: "Input", param: "prices.input" },
  { name: "cachedInput", label: "Cached input", param: "prices.cachedInput" },
  { name: "cacheWrite", label: "Cache write", param: "prices.cacheWrite" },
  { name: "output", label: "Output", param: "prices.output" },
] as const;

export function toModelText({ upstreamModel, fallbacks, ...facts }: Model): ModelText {
  return { upstreamModel, fallbacks: fallbacks.join("\n"), ...toFactText(facts) };
}

/** The facts of a model, or of a known model. */
export function toFactText({
  contextWindow,
  outputTokensMax,
  prices,
}: Pick<Model | KnownModel, "contextWindow" | "outputTokensMax" | "prices">) {
  return {
    contextWindow: writeNumber(contextWindow),
    outputTokensMax: writeNumber(outputTokensMax),
    input: writeNumber(prices.input),
    cachedInput: writeNumber(prices.cachedInput),
    cacheWrite: writeNumber(prices.cacheWrite),
    output: writeNumber(prices.output),
  };
}

type Changes = Omit<Extract<Inputs["models"]["update"], { id: string }>, "id" | "revision">;

/** The named fields in the gateway's format. Empty text becomes unknown. */
export function toModelChanges(text: Partial<ModelText>, names: readonly ModelField[]): Changes {
  const has = (name: ModelField) => names.includes(name);
  const number = (name: ModelField) => readNumber(text[name] ?? "");
  const prices = priceFields.filter(({ name }) => has(name)).map(({ name }) => [name, number(name)] as const);
  return {
    ...(has("upstreamModel") && { upstreamModel: text.upstreamModel?.trim() }),
    ...(has("contextWindow") && { contextWindow: number("contextWindow") }),
    ...(has("outputTokensMax") && { outputTokensMax: number("outputTokensMax") }),
    ...(has("fallbacks") && { fallbacks: (text.fallbacks ?? "").split("\n").filter(Boolean) }),
    ...(prices.length > 0 && { prices: Object.fromEntries(prices) }),
  };
}

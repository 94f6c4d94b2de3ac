import type { Inputs, Outputs } from "#lib/session/api.ts";
import { readNumber, writeNumber } from "#lib/read-number.ts";
import { componentLabel, describeRules, toRules, toRulesText } from "./price-rules.ts";

export type Model = Outputs["models"]["get"];
type KnownModel = Outputs["models"]["known"][number];

export const usualPriceFields = [
  { name: "input", label: "Input", param: "prices.input", empty: "unknown" },
  { name: "cachedInput", label: "Cached input", param: "prices.cachedInput", empty: "as input" },
  { name: "output", label: "Output", param: "prices.output", empty: "unknown" },
] as const;

/** `empty` describes the price that applies if the field is empty. */
export const advancedPriceFields = [
  advanced("cacheWrite", "as input"),
  advanced("cacheWrite1h", "2 × input"),
  advanced("reasoning", "as output"),
  advanced("imageInput", "as input"),
  advanced("cachedImageInput", "as cached input"),
  advanced("imageOutput", "unknown"),
  advanced("audioInput", "unknown"),
  advanced("cachedAudioInput", "as audio input"),
  advanced("audioOutput", "unknown"),
  advanced("webSearch", "unknown"),
  advanced("request", "free"),
] as const;

function advanced<Name extends string>(name: Name, empty: string) {
  return { name, label: componentLabel(name), param: `prices.${name}`, empty } as const;
}

/** The prices in the read-only view of a model. */
export const priceFields = [
  usualPriceFields[0],
  usualPriceFields[1],
  { name: "cacheWrite", label: "Cache write" },
  usualPriceFields[2],
] as const;

type PriceName = (typeof usualPriceFields | typeof advancedPriceFields)[number]["name"];

/** The editable fields of a model. The text of `rules` has the format of `toRulesText`. */
export type ModelField =
  | "upstreamModel"
  | "contextWindow"
  | "outputTokensMax"
  | PriceName
  | "rules"
  | "fallbacks";
export type ModelText = Record<ModelField, string>;
export type PriceText = Pick<ModelText, PriceName | "rules">;
export type FactText = Omit<ModelText, "upstreamModel" | "fallbacks">;

const allPriceFields = [...usualPriceFields, ...advancedPriceFields];

/** API parameters whose errors appear beside a form field. */
export const modelParams = [
  "upstreamModel",
  "contextWindow",
  "outputTokensMax",
  ...allPriceFields.map(({ param }) => param),
];

export function nameField(field: ModelField): string {
  const price = allPriceFields.find(({ name }) => name === field);
  return price ? `The ${price.label.toLowerCase()} price` : otherNames[field as keyof typeof otherNames];
}

const otherNames = {
  upstreamModel: "The provider model ID",
  contextWindow: "The context window",
  outputTokensMax: "The output limit",
  rules: "The list of conditions",
  fallbacks: "The list of fallbacks",
};

export function describeField(field: ModelField, text: string): string {
  return field === "rules" ? describeRules(text) : text.replaceAll("\n", ", ");
}

export function toModelText({ upstreamModel, fallbacks, ...facts }: Model): ModelText {
  return { upstreamModel, fallbacks: fallbacks.join("\n"), ...toFactText(facts) };
}

export function toFactText({
  contextWindow,
  outputTokensMax,
  prices,
}: Pick<Model | KnownModel, "contextWindow" | "outputTokensMax" | "prices">): FactText {
  return {
    contextWindow: writeNumber(contextWindow),
    outputTokensMax: writeNumber(outputTokensMax),
    ...(Object.fromEntries(allPriceFields.map(({ name }) => [name, writeNumber(prices[name])])) as Record<
      PriceName,
      string
    >),
    rules: toRulesText(prices.rules),
  };
}

export function emptyFacts(): FactText {
  const prices = { input: null, cachedInput: null, cacheWrite: null, output: null };
  return toFactText({ contextWindow: null, outputTokensMax: null, prices });
}

type Changes = Omit<Extract<Inputs["models"]["update"], { id: string }>, "id" | "revision">;

/** Converts the named fields to the gateway's format. An empty number becomes null. */
export function toModelChanges(text: Partial<ModelText>, names: readonly ModelField[]): Changes {
  const has = (name: ModelField) => names.includes(name);
  const number = (name: ModelField) => readNumber(text[name] ?? "");
  const prices = {
    ...Object.fromEntries(
      allPriceFields.filter(({ name }) => has(name)).map(({ name }) => [name, number(name)]),
    ),
    ...(has("rules") && { rules: toRules(text.rules ?? "") }),
  };
  return {
    ...(has("upstreamModel") && { upstreamModel: text.upstreamModel?.trim() }),
    ...(has("contextWindow") && { contextWindow: number("contextWindow") }),
    ...(has("outputTokensMax") && { outputTokensMax: number("outputTokensMax") }),
    ...(has("fallbacks") && { fallbacks: (text.fallbacks ?? "").split("\n").filter(Boolean) }),
    ...(Object.keys(prices).length > 0 && { prices }),
  };
}

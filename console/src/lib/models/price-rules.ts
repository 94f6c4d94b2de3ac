import { formatExactDollars, formatCount } from "#lib/format/numbers.ts";
import { readNumber, writeNumber } from "#lib/read-number.ts";
import type { Outputs } from "#lib/session/api.ts";

type Prices = Outputs["models"]["get"]["prices"];
type PriceRule = NonNullable<Prices["rules"]>[number];

/** Conditions that the form can edit. The form shows and keeps other conditions. */
export const conditionKinds = [
  { value: "inputTokensAbove", label: "Prompts longer than", hint: "Tokens" },
  { value: "serviceTier", label: "Service tier", hint: "Enter a service tier, such as flex or priority." },
  { value: "speed", label: "Speed", hint: "Enter a speed, such as fast." },
  { value: "region", label: "Region", hint: "Enter a region, such as us." },
] as const;

type ConditionKind = (typeof conditionKinds)[number]["value"];

/** The prices of a rule that the form can edit. */
export const rulePriceFields = [
  { name: "input", label: "Input" },
  { name: "cachedInput", label: "Cached input" },
  { name: "cacheWrite", label: "Cache write" },
  { name: "output", label: "Output" },
] as const;

type RulePrice = (typeof rulePriceFields)[number]["name"];

export type RuleText = {
  /** Null for a condition that the form cannot edit. */
  kind: ConditionKind | null;
  value: string;
  factor: string;
  prices: Record<RulePrice, string>;
  isPartOnly: boolean;
  /** Saving keeps the stored prices that have no field. */
  stored: PriceRule | null;
};

export const emptyRule: RuleText = {
  kind: "serviceTier",
  value: "",
  factor: "",
  prices: { input: "", cachedInput: "", cacheWrite: "", output: "" },
  isPartOnly: false,
  stored: null,
};

/** All rules in one string, so that a draft can compare them. Empty without rules. */
export function toRulesText(rules: readonly PriceRule[] = []): string {
  return rules.length === 0 ? "" : JSON.stringify(rules.map(toRuleText));
}

export function readRulesText(text: string): RuleText[] {
  return text === "" ? [] : (JSON.parse(text) as RuleText[]);
}

export function writeRulesText(rules: readonly RuleText[]): string {
  return rules.length === 0 ? "" : JSON.stringify(rules);
}

function toRuleText(rule: PriceRule): RuleText {
  const given = Object.entries(rule.when).filter(([, value]) => value !== undefined);
  const kind = conditionKinds.find(({ value }) => given.length === 1 && given[0]?.[0] === value)?.value;
  const value = given[0]?.[1];
  return {
    kind: kind ?? null,
    value: typeof value === "number" ? writeNumber(value) : typeof value === "string" ? value : "",
    factor: writeNumber(rule.factor),
    prices: {
      input: writeNumber(rule.prices?.input),
      cachedInput: writeNumber(rule.prices?.cachedInput),
      cacheWrite: writeNumber(rule.prices?.cacheWrite),
      output: writeNumber(rule.prices?.output),
    },
    isPartOnly: rule.part === "above",
    stored: rule,
  };
}

export function toRules(text: string): PriceRule[] {
  return readRulesText(text).map((rule) => {
    const { kind, value, stored } = rule;
    if (kind === null && stored) return stored;
    const prices = { ...stored?.prices };
    for (const { name } of rulePriceFields) {
      const price = readNumber(rule.prices[name]);
      if (price !== null) prices[name] = price;
      else if (prices[name] !== null) delete prices[name];
    }
    const factor = readNumber(rule.factor);
    const condition = kind === "inputTokensAbove" ? readNumber(value) : value.trim().toLowerCase();
    return {
      when: { [kind ?? "serviceTier"]: condition },
      ...(Object.keys(prices).length > 0 && { prices }),
      ...(factor !== null && { factor }),
      ...(kind === "inputTokensAbove" && rule.isPartOnly && { part: "above" as const }),
    };
  });
}

/** Returns text such as "Prompts above 272,000 tokens: input $5.00, output $22.50". */
export function describeRule(rule: PriceRule): string {
  const { when, prices = {}, factor, part } = rule;
  const conditions = [
    when.inputTokensAbove === undefined
      ? []
      : `${part ? "part of the prompt" : "prompts"} above ${formatCount(when.inputTokensAbove)} tokens`,
    when.serviceTier === undefined ? [] : `service tier ${when.serviceTier}`,
    when.speed === undefined ? [] : `speed ${when.speed}`,
    when.region === undefined ? [] : `region ${when.region}`,
    when.hours === undefined ? [] : `${when.hours.from} to ${when.hours.to} UTC`,
    when.from === undefined ? [] : `from ${when.from}`,
    when.before === undefined ? [] : `before ${when.before}`,
  ].flat();
  const changes = [
    ...(factor === undefined ? [] : [`all prices × ${factor}`]),
    ...Object.entries(prices).map(
      ([name, price]) =>
        `${componentLabel(name).toLowerCase()} ${typeof price === "number" ? formatExactDollars(price) : "unknown"}`,
    ),
  ];
  const text = `${conditions.join(", ")}: ${changes.join(", ")}`;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Describes all rules on one line, for the notice about another user's change. */
export function describeRules(text: string): string {
  return toRules(text).map(describeRule).join("; ");
}

const componentLabels: Record<string, string> = {
  input: "Input",
  cachedInput: "Cached input",
  cacheWrite: "5-minute cache write",
  cacheWrite1h: "1-hour cache write",
  imageInput: "Image input",
  cachedImageInput: "Cached image input",
  audioInput: "Audio input",
  cachedAudioInput: "Cached audio input",
  output: "Output",
  reasoning: "Reasoning",
  imageOutput: "Image output",
  audioOutput: "Audio output",
  webSearch: "Web search",
  request: "Request",
};

export function componentLabel(name: string): string {
  return componentLabels[name] ?? name;
}

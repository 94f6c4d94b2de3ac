import type { ModelInfo } from "@pydantic/genai-prices";
import { cataloguePrices, describePrices } from "./catalogue-prices.ts";
import type { Prices } from "./prices.ts";
import { overlayModels, withOverlay } from "./price-overlay.ts";
import { findModel, rulesOf } from "./match-name.ts";
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

/**
 * Lists the callable models with an input price and a context window, sorted by name. Empty for an
 * unknown seller.
 */
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

/**
 * The upstream's name for the model. Null if the model is retired, if the rules contain no full name, or if
 * `otherNames` matches the name.
 */
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

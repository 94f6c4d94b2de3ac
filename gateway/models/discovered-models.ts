import type { ModelRow } from "../../db/entities/model.ts";
import type { ProviderRow } from "../../db/entities/provider.ts";
import { findKnownModel, type KnownModel, type Seller } from "../known-models/known-models.ts";
import { findPreset } from "../providers/registry.ts";

export type DiscoveredModel = {
  upstreamModel: string;
  /** The slug of the existing model with this upstream name, or null. */
  slug: string | null;
  known: KnownModel | null;
};

/** Sorted by name, without empty and overlong names. Limited, because the work blocks the process. */
export async function describeModels(
  names: readonly string[],
  provider: ProviderRow,
  models: readonly ModelRow[],
  now: number,
): Promise<DiscoveredModel[]> {
  const seller = sellerOf(provider, now);
  const slugs = new Map(models.map(({ upstreamModel, slug }) => [upstreamModel, slug]));
  const usable = [...new Set(names)].filter((name) => name !== "" && name.length <= upstreamModelLengthMax);
  return Promise.all(
    usable
      .slice(0, modelsMax)
      .toSorted()
      .map(async (upstreamModel) => ({
        upstreamModel,
        slug: slugs.get(upstreamModel) ?? null,
        known: await findKnownModel(seller, upstreamModel),
      })),
  );
}

const upstreamModelLengthMax = 255;
const modelsMax = 5_000;

/** The preset's URL identifies the seller if the provider's base URL is missing or unknown to the price list. */
export function sellerOf({ kind, preset, baseUrl }: ProviderRow, now: number): Seller {
  const addresses = [baseUrl, findPreset(kind, preset)?.baseUrl ?? null];
  return { baseUrls: addresses.filter((address) => address !== null), now: new Date(now) };
}

import type { ModelRow } from "../../db/entities/model.ts";
import type { ProviderRow } from "../../db/entities/provider.ts";
import { findKnownModel, type KnownModel } from "../known-models/known-models.ts";
import { sellerOf } from "./seller-of.ts";

/** A model that an upstream says it has. */
export type DiscoveredModel = {
  upstreamModel: string;
  /** The slug of the model that it is here already; null when it is none. */
  slug: string | null;
  /** What is known of it; null when nothing is. */
  known: KnownModel | null;
};

/** By name. Names that cannot be stored are left out, and what goes beyond any list that is known: nothing else goes on meanwhile. */
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

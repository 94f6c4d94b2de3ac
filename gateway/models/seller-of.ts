import type { ProviderRow } from "../../db/entities/provider.ts";
import type { Seller } from "../known-models/known-models.ts";
import { findPreset } from "../providers/presets.ts";

/** The seller of a provider's models: by its URL or, behind an unknown proxy, by its preset. */
export function sellerOf({ kind, preset, baseUrl }: ProviderRow, now: number): Seller {
  const addresses = [baseUrl, findPreset(kind, preset)?.baseUrl ?? null];
  return { baseUrls: addresses.filter((address) => address !== null), now: new Date(now) };
}

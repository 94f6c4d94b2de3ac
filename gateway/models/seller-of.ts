import type { ProviderRow } from "../../db/entities/provider.ts";
import type { Seller } from "../known-models/known-models.ts";
import { findPreset } from "../providers/presets.ts";

/** Who sells a provider's models: whoever is at its address; behind a proxy that nobody knows, whoever its preset says. */
export function sellerOf({ kind, preset, baseUrl }: ProviderRow, now: number): Seller {
  const addresses = [baseUrl, findPreset(kind, preset)?.baseUrl ?? null];
  return { baseUrls: addresses.filter((address) => address !== null), now: new Date(now) };
}

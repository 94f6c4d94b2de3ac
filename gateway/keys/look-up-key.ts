import type { Database } from "../../db/database.ts";
import type { Budgets } from "../limits/budgets/budgets.ts";
import { enforcedLimits } from "../limits/key-limits.ts";
import type { KnownKey } from "./key-cache.ts";

type LookUpKeyOptions = {
  database: Database;
  budgets: Pick<Budgets, "loadFor">;
  catalogue: { hasAll(modelIds: ReadonlySet<string>): boolean; reload(): Promise<void> };
};

/** Reads a key for the cache, and everything else that its requests need in memory. */
export async function lookUpKey(
  { database, budgets, catalogue }: LookUpKeyOptions,
  hash: string,
): Promise<KnownKey | null> {
  const found = await database.read(({ apiKeys }) => apiKeys.findByHash(hash));
  if (!found) return null;
  const { key: row, value, modelIds } = found;
  const ends = [row.expiresAt, value.validUntil].flatMap((end) => end?.getTime() ?? []);
  const key: KnownKey = {
    id: row.id,
    hash,
    name: row.name,
    ownerId: row.ownerId,
    isActive: row.status === "active",
    validUntil: ends.length === 0 ? null : Math.min(...ends),
    modelIds: new Set(modelIds),
    limits: enforcedLimits(row),
  };
  await budgets.loadFor(key);
  // Another process may have created the key's models a moment ago.
  if (!catalogue.hasAll(key.modelIds)) await catalogue.reload();
  return key;
}

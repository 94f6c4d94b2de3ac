import type { Database } from "../../db/database.ts";
import { enforcedLimits } from "../limits/key-limits.ts";
import type { KnownKey } from "./key-cache.ts";

/** Reads what the cache keeps of a key from the database. */
export async function lookUpKey(database: Database, hash: string): Promise<KnownKey | null> {
  const found = await database.read(({ apiKeys }) => apiKeys.findByHash(hash));
  if (!found) return null;
  const { key, value, modelIds } = found;
  const ends = [key.expiresAt, value.validUntil].flatMap((end) => end?.getTime() ?? []);
  return {
    id: key.id,
    hash,
    name: key.name,
    ownerId: key.ownerId,
    isActive: key.status === "active",
    validUntil: ends.length === 0 ? null : Math.min(...ends),
    modelIds: new Set(modelIds),
    limits: enforcedLimits(key),
  };
}

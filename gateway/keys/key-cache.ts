import type { Database } from "../../db/database.ts";
import { GatewayError } from "../errors.ts";
import type { Budgets } from "../limits/budgets/budgets.ts";
import { enforcedLimits, type EnforcedLimits } from "../limits/key-limits.ts";

/** The data that authenticates a request. */
export type KnownKey = Readonly<{
  id: string;
  /** The hash of the received value. */
  hash: string;
  name: string;
  /** The owner. Null for a key without an owner. */
  ownerId: string | null;
  /** The charge for the key's requests, in ten-thousandths of the cost. Null charges the cost. */
  chargeFactor: number | null;
  isActive: boolean;
  /** The expiry of the value in milliseconds since 1970. Null if it never expires. */
  validUntil: number | null;
  modelIds: ReadonlySet<string>;
  /** Null for a key without its own limits. */
  limits: EnforcedLimits | null;
}>;

type KeyCacheOptions = {
  lookUp: (hash: string) => Promise<KnownKey | null>;
  now: () => number;
  entriesMax: number;
  lookupsMax: number;
};

/**
 * Keys by the hash of their value. Memory alone serves cached keys, and only the change feed removes them. A
 * lookup never restores a key that a change removed.
 */
export class KeyCache {
  readonly #options: KeyCacheOptions;
  readonly #known = new Map<string, KnownKey>();
  readonly #hashesOf = new Map<string, Set<string>>();
  /** Hashes without a key, and the time until which that result is cached. */
  readonly #unknownUntil = new Map<string, number>();
  readonly #lookups = new Map<string, Promise<KnownKey | null>>();
  /** Increases with every change. A lookup that started before a change is not cached. */
  #generation = 0;

  constructor(options: KeyCacheOptions) {
    this.#options = options;
  }

  /** The cached key, if any. */
  peek(hash: string): KnownKey | undefined {
    return this.#known.get(hash);
  }

  /**
   * The key, from the database if it is not cached. Null for an unknown hash. Throws `service_unavailable`.
   */
  async find(hash: string): Promise<KnownKey | null> {
    const known = this.#known.get(hash);
    if (known) return known;
    if ((this.#unknownUntil.get(hash) ?? 0) > this.#options.now()) return null;
    const running = this.#lookups.get(hash);
    if (running) return running;
    if (this.#lookups.size >= this.#options.lookupsMax) {
      const message = "Too many API keys are being looked up. Retry in a moment.";
      throw new GatewayError("service_unavailable", message, { retryAfterSeconds: 1 });
    }
    return this.#startLookup(hash);
  }

  /** Removes a changed key. A key in use is reloaded at once, so that its next request does not wait. */
  async refresh(keyId: string): Promise<void> {
    this.#generation++;
    const hashes = this.#hashesOf.get(keyId) ?? [];
    this.#hashesOf.delete(keyId);
    for (const hash of hashes) this.#known.delete(hash);
    // Runs beside other lookups: a deactivation must not wait for guesses.
    await Promise.all([...hashes].map((hash) => this.#lookups.get(hash) ?? this.#startLookup(hash)));
  }

  /** Whether one of the key's values is cached. */
  has(keyId: string): boolean {
    return this.#hashesOf.has(keyId);
  }

  /** Whether one of the key's cached values belongs to an active key. */
  hasActive(keyId: string): boolean {
    const hashes = [...(this.#hashesOf.get(keyId) ?? [])];
    return hashes.some((hash) => this.#known.get(hash)?.isActive === true);
  }

  /** Removes everything if changes may be missing. */
  clear(): void {
    this.#generation++;
    this.#known.clear();
    this.#hashesOf.clear();
    this.#unknownUntil.clear();
  }

  #startLookup(hash: string): Promise<KnownKey | null> {
    const lookup = this.#lookUpUntilSettled(hash).finally(() => this.#lookups.delete(hash));
    this.#lookups.set(hash, lookup);
    return lookup;
  }

  async #lookUpUntilSettled(hash: string): Promise<KnownKey | null> {
    for (let attempt = 1; ; attempt++) {
      const generation = this.#generation;
      const key = await this.#options.lookUp(hash);
      if (generation === this.#generation) {
        this.#remember(hash, key);
        return key;
      }
      // Changes arrive faster than lookups finish. This request uses the result, but it is not cached.
      if (attempt === attemptsMax) return key;
    }
  }

  #remember(hash: string, key: KnownKey | null): void {
    if (key === null) {
      this.#unknownUntil.set(hash, this.#options.now() + unknownForMs);
      dropOldest(this.#unknownUntil, this.#options.entriesMax);
      return;
    }
    this.#known.set(hash, key);
    const hashes = this.#hashesOf.get(key.id);
    if (hashes) hashes.add(hash);
    else this.#hashesOf.set(key.id, new Set([hash]));
    dropOldest(this.#known, this.#options.entriesMax, (oldHash, old) => {
      const left = this.#hashesOf.get(old.id);
      left?.delete(oldHash);
      if (left?.size === 0) this.#hashesOf.delete(old.id);
    });
  }
}

const unknownForMs = 1_000;
const attemptsMax = 3;

function dropOldest<Value>(
  map: Map<string, Value>,
  entriesMax: number,
  dropped?: (key: string, value: Value) => void,
): void {
  if (map.size <= entriesMax) return;
  for (const [key, value] of map) {
    map.delete(key);
    dropped?.(key, value);
    if (map.size <= entriesMax) return;
  }
}

type LookUpKeyOptions = {
  database: Database;
  budgets: Pick<Budgets, "loadFor">;
  catalogue: { hasAll(modelIds: ReadonlySet<string>): boolean; reload(): Promise<void> };
};

/** Loads a key, and everything that its requests need in memory. */
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
    chargeFactor: row.chargeFactor,
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

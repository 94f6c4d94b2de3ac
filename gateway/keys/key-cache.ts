import type { Database } from "../../db/database.ts";
import { GatewayError } from "../errors.ts";
import type { Budgets } from "../limits/budgets/budgets.ts";
import { enforcedLimits, type EnforcedLimits } from "../limits/key-limits.ts";

/** What authenticates a request, as the database has it. */
export type KnownKey = Readonly<{
  id: string;
  /** Of the value that was sent. */
  hash: string;
  name: string;
  /** Whose it is; null for a key of nobody's. */
  ownerId: string | null;
  isActive: boolean;
  /** Milliseconds since 1970 after which the value no longer counts; null = never. */
  validUntil: number | null;
  modelIds: ReadonlySet<string>;
  /** Null for none of its own. */
  limits: EnforcedLimits | null;
}>;

type KeyCacheOptions = {
  lookUp: (hash: string) => Promise<KnownKey | null>;
  now: () => number;
  entriesMax: number;
  lookupsMax: number;
};

/**
 * Keys by the hash of their value. Known keys are served from here alone; only the change feed takes them out, and what
 * a request found is never written over what a change has dropped.
 */
export class KeyCache {
  readonly #options: KeyCacheOptions;
  readonly #known = new Map<string, KnownKey>();
  readonly #hashesOf = new Map<string, Set<string>>();
  /** Hashes that no key has, and until when that is believed. */
  readonly #unknownUntil = new Map<string, number>();
  readonly #lookups = new Map<string, Promise<KnownKey | null>>();
  /** Grows with every change, so that a look-up that began before one is not believed after it. */
  #generation = 0;

  constructor(options: KeyCacheOptions) {
    this.#options = options;
  }

  /** The key, if it is known: the way of nearly every request. */
  peek(hash: string): KnownKey | undefined {
    return this.#known.get(hash);
  }

  /** The key, from the database if it has to be; null when there is none. Throws `service_unavailable`. */
  async find(hash: string): Promise<KnownKey | null> {
    const known = this.#known.get(hash);
    if (known) return known;
    if ((this.#unknownUntil.get(hash) ?? 0) > this.#options.now()) return null;
    const running = this.#lookups.get(hash);
    if (running) return running;
    if (this.#lookups.size >= this.#options.lookupsMax) {
      const message = "Too many API keys are being looked up. Try again in a moment.";
      throw new GatewayError("service_unavailable", message, { retryAfterSeconds: 1 });
    }
    return this.#startLookup(hash);
  }

  /** Drops a key that changed. It is looked up again at once if it was in use, so that the next request need not wait. */
  async refresh(keyId: string): Promise<void> {
    this.#generation++;
    const hashes = this.#hashesOf.get(keyId) ?? [];
    this.#hashesOf.delete(keyId);
    for (const hash of hashes) this.#known.delete(hash);
    // However many guesses are being looked up: a key that was deactivated does not wait for them.
    await Promise.all([...hashes].map((hash) => this.#lookups.get(hash) ?? this.#startLookup(hash)));
  }

  /** Whether one of a key's values is known. */
  has(keyId: string): boolean {
    return this.#hashesOf.has(keyId);
  }

  /** Drops everything, when it is not known what changed. */
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
      // Changes come faster than look-ups. What was just read is true enough for this request, not for later ones.
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

import { hash } from "node:crypto";
import { GatewayError } from "../errors.ts";
import { isKeyValue } from "./key-value.ts";
import type { Runtime } from "../runtime.ts";
import type { Database } from "../../db/database.ts";
import type { Log } from "../log.ts";
import type { LimitedKey } from "../limits/holders.ts";

export type AuthenticateKeyOptions = { keyCache: KeyCache; lastUsed: LastUsed; runtime: Runtime };

/** Synchronous if the key is cached. Throws `missing_api_key`, `invalid_api_key` or the lookup's error. */
export function authenticateKey(
  options: AuthenticateKeyOptions,
  value: string | null,
): KnownKey | Promise<KnownKey> {
  if (value === null) {
    throw new GatewayError(
      "missing_api_key",
      "The API key is missing. Send it in the header `Authorization: Bearer sk-gateway-…`.",
    );
  }
  const hash = hashKeyValue(value);
  const known = options.keyCache.peek(hash);
  if (known) return requireUsable(options, known);
  // A value with an invalid format or checksum causes no lookup.
  if (!isKeyValue(value)) throw invalidApiKey();
  return options.keyCache.find(hash).then((key) => requireUsable(options, key));
}

/** Returns the SHA-256 in hex. The value itself is never stored. */
export function hashKeyValue(value: string): string {
  return hash("sha256", value);
}

/** All causes share one message, so that an attacker cannot find out whether a key exists. */
export function invalidApiKey(): GatewayError {
  return new GatewayError(
    "invalid_api_key",
    "The API key is invalid: it is mistyped, deactivated, expired, deleted, or not allowed from this address. Check the key, or ask the administrator for a new one.",
  );
}

export function isUsable(key: KnownKey | null, now: number): key is KnownKey {
  return key !== null && key.isActive && (key.validUntil === null || key.validUntil > now);
}

function requireUsable({ lastUsed, runtime }: AuthenticateKeyOptions, key: KnownKey | null): KnownKey {
  const now = runtime.now();
  if (!isUsable(key, now)) throw invalidApiKey();
  lastUsed.note(key.id, now);
  return key;
}

type LastUsedOptions = { database: Database; log: Log; flushIntervalMs?: number };

/** Keeps the time of each key's last use in memory, and writes it periodically outside the request path. */
export class LastUsed {
  readonly #database: Database;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  #times = new Map<string, number>();
  #writing: Promise<void> = Promise.resolve();

  constructor({ database, log, flushIntervalMs = 2_000 }: LastUsedOptions) {
    this.#database = database;
    this.#log = log;
    this.#timer = setInterval(() => void this.flush(), flushIntervalMs).unref();
  }

  note(keyId: string, now: number): void {
    this.#times.set(keyId, now);
  }

  /** Writes the collected times. A failure is only logged, because the next use of a key corrects its time. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  async #write(): Promise<void> {
    if (this.#times.size === 0) return;
    const times = this.#times;
    this.#times = new Map();
    try {
      await this.#database.write(async ({ apiKeys }) => {
        for (const [id, time] of times) await apiKeys.update(id, { lastUsedAt: new Date(time) });
      });
    } catch (error) {
      this.#log.debug({ error }, "cannot store when keys were last used");
    }
  }
}

/** A key as its requests need it. */
export type KnownKey = LimitedKey &
  Readonly<{
    /** The hash of the received value. */
    hash: string;
    name: string;
    /** The charge for the key's requests, in ten-thousandths of the cost. Null charges the cost. */
    chargeFactor: number | null;
    isActive: boolean;
    /** The earlier expiry of the key and this value, in milliseconds since 1970. Null if neither expires. */
    validUntil: number | null;
    modelIds: ReadonlySet<string>;
  }>;

type KeyCacheOptions = {
  lookUp: (hash: string) => Promise<KnownKey | null>;
  now: () => number;
  entriesMax: number;
  lookupsMax: number;
};

/** Caches keys by the hash of their value. The change feed refreshes changed keys. */
export class KeyCache {
  readonly #options: KeyCacheOptions;
  readonly #known = new Map<string, KnownKey>();
  readonly #hashesOf = new Map<string, Set<string>>();
  /** Hashes without a key, and the time until which that result is cached. */
  readonly #unknownUntil = new Map<string, number>();
  readonly #lookups = new Map<string, Promise<KnownKey | null>>();
  /** Increases with every change. Results of lookups that started before a change are not cached. */
  #generation = 0;

  constructor(options: KeyCacheOptions) {
    this.#options = options;
  }

  peek(hash: string): KnownKey | undefined {
    return this.#known.get(hash);
  }

  /** Null for an unknown hash. Throws `service_unavailable` while too many lookups run. */
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

  /** Reloads a changed key, if it was cached. */
  async refresh(keyId: string): Promise<void> {
    this.#generation++;
    const hashes = this.#hashesOf.get(keyId) ?? [];
    this.#hashesOf.delete(keyId);
    for (const hash of hashes) this.#known.delete(hash);
    // `lookupsMax` does not apply here, because lookups of guessed keys must not block a deactivation.
    await Promise.all([...hashes].map((hash) => this.#lookups.get(hash) ?? this.#startLookup(hash)));
  }

  keys(): Iterable<KnownKey> {
    return this.#known.values();
  }

  has(keyId: string): boolean {
    return this.#hashesOf.has(keyId);
  }

  /** False for a key that is not cached. */
  hasActive(keyId: string): boolean {
    const hashes = [...(this.#hashesOf.get(keyId) ?? [])];
    return hashes.some((hash) => this.#known.get(hash)?.isActive === true);
  }

  /** Called when the change feed may have missed changes. */
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
      // If changes arrive faster than lookups finish, the result is used but not cached.
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

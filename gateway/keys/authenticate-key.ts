import { hash } from "node:crypto";
import { GatewayError } from "../errors.ts";
import type { KeyCache, KnownKey } from "./key-cache.ts";
import { isKeyValue } from "./key-value.ts";
import type { Runtime } from "../runtime.ts";
import type { Database } from "../../db/database.ts";
import type { Log } from "../log.ts";

export type AuthenticateKeyOptions = { keyCache: KeyCache; lastUsed: LastUsed; runtime: Runtime };

/**
 * The key of a value, returned synchronously if cached, the usual case. Throws `missing_api_key`,
 * `invalid_api_key`, or `service_unavailable` if it needs the database and cannot reach it.
 */
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
  // A typo, a guess or another service's key causes no lookup.
  if (!isKeyValue(value)) throw invalidApiKey();
  return options.keyCache.find(hash).then((key) => requireUsable(options, key));
}

/** SHA-256 of a key value in hex, the only stored form. */
export function hashKeyValue(value: string): string {
  return hash("sha256", value);
}

/**
 * One message for unknown, deleted, disabled and expired keys, so that an attacker learns nothing. It lists
 * these causes for the key's owner.
 */
export function invalidApiKey(): GatewayError {
  return new GatewayError(
    "invalid_api_key",
    "The API key is invalid: it is mistyped, deactivated, expired, deleted, or not allowed from this address. Check it, or ask the administrator for a new one.",
  );
}

/** Whether the key is valid now. */
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

/** The time of each key's last use: kept in memory, and written periodically outside the request path. */
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

  /** Writes the collected times. A failure only delays the shown time, so it is logged and ignored. */
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

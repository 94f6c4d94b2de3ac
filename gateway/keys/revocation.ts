import type { ChangeKind } from "../../db/entities/change.ts";
import type { GatewayError } from "../errors.ts";
import type { Budgets } from "../limits/budgets/budgets.ts";
import { invalidApiKey, isUsable, type KeyCache, type KnownKey } from "./authenticate-key.ts";
import type { ChangeListener } from "./change-feed.ts";

type RevocationOptions = {
  now: () => number;
  keyCache: KeyCache;
  budgets: Pick<Budgets, "changed" | "forget">;
  /** Null if no responses are kept. */
  keptResponses: { forget(keyId: string): void } | null;
  openExchanges: {
    keyIds(): string[];
    hashesOf(keyId: string): Iterable<string>;
    update(keyId: string, hash: string, key: KnownKey | null, error: GatewayError): void;
  };
  reloadCatalogue: () => Promise<void>;
  /** @param changed the holder whose limits have changed. Null for all holders. */
  reloadLimits: (changed: string | null) => Promise<void>;
  loadDataKeys: () => Promise<void> | undefined;
};

/**
 * Applies changes by all processes to keys, limits, the catalogue and data keys. A revoked key usually stops
 * working within a second, and its open requests end.
 */
export class Revocation implements ChangeListener {
  readonly #options: RevocationOptions;

  constructor(options: RevocationOptions) {
    this.#options = options;
  }

  async changed(kind: ChangeKind, entityId: string): Promise<void> {
    const { keyCache, budgets, keptResponses, reloadCatalogue, reloadLimits, loadDataKeys } = this.#options;
    if (kind === "catalogue") return reloadCatalogue();
    if (kind === "limits") return reloadLimits(entityId);
    // The call is not awaited, because KMS can be slow and revocations must not wait for it.
    if (kind === "data_key") return void loadDataKeys();
    budgets.changed(entityId);
    const wasKnown = keyCache.has(entityId);
    await keyCache.refresh(entityId);
    if (!keyCache.has(entityId)) budgets.forget(entityId);
    await this.#updateOpenExchanges(entityId);
    // The open requests must end first, because they could keep more responses. A key that was not cached may
    // still be active.
    if (wasKnown && !keyCache.hasActive(entityId)) keptResponses?.forget(entityId);
  }

  async everythingChanged(): Promise<void> {
    const { keyCache, budgets, openExchanges, reloadCatalogue, reloadLimits, loadDataKeys } = this.#options;
    budgets.forget();
    keyCache.clear();
    void loadDataKeys();
    await reloadCatalogue();
    await reloadLimits(null);
    for (const keyId of openExchanges.keyIds()) await this.#updateOpenExchanges(keyId);
  }

  async #updateOpenExchanges(keyId: string): Promise<void> {
    const { keyCache, openExchanges, now } = this.#options;
    for (const hash of openExchanges.hashesOf(keyId)) {
      const key = await keyCache.find(hash);
      openExchanges.update(keyId, hash, isUsable(key, now()) ? key : null, invalidApiKey());
    }
  }
}

type KeyExpiryOptions = {
  now: () => number;
  openExchanges: { expire(now: number, error: GatewayError): void };
};

/** Ends the requests in flight of expired keys, within a second of the expiry. */
export class KeyExpiry {
  readonly #timer: NodeJS.Timeout;

  constructor({ now, openExchanges }: KeyExpiryOptions) {
    this.#timer = setInterval(() => openExchanges.expire(now(), invalidApiKey()), checkIntervalMs).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

/** One timer for all requests, because a timer for each request would cost every request. */
const checkIntervalMs = 500;

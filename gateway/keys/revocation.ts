import { holderColumns } from "../../db/entities/api-key.ts";
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
 * Applies changes by all processes to keys, their holders, limits, the catalogue and data keys. A revoked key usually stops
 * working within a second, and its open requests end.
 */
export function revocation(options: RevocationOptions): ChangeListener {
  const { now, keyCache, budgets, keptResponses, openExchanges } = options;
  const updateOpenExchanges = async (keyId: string): Promise<void> => {
    for (const hash of openExchanges.hashesOf(keyId)) {
      const key = await keyCache.find(hash);
      openExchanges.update(keyId, hash, isUsable(key, now()) ? key : null, invalidApiKey());
    }
  };
  const keyChanged = async (keyId: string): Promise<void> => {
    budgets.changed(keyId);
    const wasKnown = keyCache.has(keyId);
    await keyCache.refresh(keyId);
    if (!keyCache.has(keyId)) budgets.forget(keyId);
    await updateOpenExchanges(keyId);
    // The open requests must end first, because they could keep more responses. A key that was not cached may
    // still be active.
    if (wasKnown && !keyCache.hasActive(keyId)) keptResponses?.forget(keyId);
  };
  return {
    async changed(kind, entityId) {
      if (kind === "catalogue") return options.reloadCatalogue();
      if (kind === "limits") return options.reloadLimits(entityId);
      // The call is not awaited, because KMS can be slow and revocations must not wait for it.
      if (kind === "data_key") return void options.loadDataKeys();
      if (kind === "api_key") return keyChanged(entityId);
      const held = [...keyCache.keys()].filter((key) => key[holderColumns[kind]] === entityId);
      await Promise.all([...new Set(held.map(({ id }) => id))].map(keyChanged));
    },
    async everythingChanged() {
      budgets.forget();
      keyCache.clear();
      void options.loadDataKeys();
      await options.reloadCatalogue();
      await options.reloadLimits(null);
      for (const keyId of openExchanges.keyIds()) await updateOpenExchanges(keyId);
    },
  };
}

type KeyExpiryOptions = {
  now: () => number;
  openExchanges: { expire(now: number, error: GatewayError): void };
};

/** Ends the requests in flight of expired keys, within a second of the expiry. Returns a function that stops it. */
export function watchKeyExpiry({ now, openExchanges }: KeyExpiryOptions): () => void {
  const timer = setInterval(() => openExchanges.expire(now(), invalidApiKey()), checkIntervalMs).unref();
  return () => clearInterval(timer);
}

/** One timer for all requests, because a timer for each request would cost every request. */
const checkIntervalMs = 500;

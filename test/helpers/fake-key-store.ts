import { KeyCache, type KnownKey } from "../../gateway/keys/authenticate-key.ts";

/** Creates an empty key store in memory and a cache for it. Tests can count and hold the cache's lookups. */
export function createKeyStore({ entriesMax = 100, lookupsMax = 100 } = {}) {
  const store = {
    keys: new Map<string, KnownKey>(),
    lookups: [] as string[],
    now: 1_000_000,
    /** While set, finished lookups wait for this promise before they return. */
    hold: null as Promise<void> | null,
  };
  const cache = new KeyCache({
    async lookUp(hash) {
      store.lookups.push(hash);
      const found = store.keys.get(hash) ?? null;
      await store.hold;
      return found;
    },
    now: () => store.now,
    entriesMax,
    lookupsMax,
  });
  return Object.assign(store, { cache });
}

export function knownKey(id: string, more: Partial<KnownKey> = {}): KnownKey {
  return {
    id,
    hash: `hash of ${id}`,
    name: id,
    ownerId: null,
    teamId: null,
    chargeFactor: null,
    isActive: true,
    validUntil: null,
    modelIds: new Set(),
    limits: null,
    ...more,
  };
}

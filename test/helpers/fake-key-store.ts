import { KeyCache, type KnownKey } from "../../gateway/keys/key-cache.ts";

/** A key cache over keys in memory, whose look-ups are counted and can be held up. */
export function createKeyStore({ entriesMax = 100, lookupsMax = 100 } = {}) {
  const store = {
    keys: new Map<string, KnownKey>(),
    lookups: [] as string[],
    now: 1_000_000,
    /** While it is set, look-ups that have read their answer do not return it before this resolves. */
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
    isActive: true,
    validUntil: null,
    modelIds: new Set(),
    limits: null,
    ...more,
  };
}

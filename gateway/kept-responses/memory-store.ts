import { countBytes, type KeptResponse, type ResponseStore } from "./response-store.ts";

export type MemoryStoreOptions = {
  now: () => number;
  keptMs: number;
  bytesMax: number;
  keyBytesMax: number;
};

type Entry = KeptResponse & { keyId: string; id: string; bytes: number; usedAt: number };

export class MemoryStore implements ResponseStore {
  readonly #options: MemoryStoreOptions;
  /** The entries, the least recently used first. */
  readonly #entries = new Map<string, Entry>();
  /** The entries of each key: their IDs in the same order, and their total bytes. */
  readonly #shelves = new Map<string, { ids: Set<string>; bytes: number }>();
  readonly #sweep: NodeJS.Timeout;
  #bytes = 0;

  constructor(options: MemoryStoreOptions) {
    this.#options = options;
    // The timer frees memory even when no request arrives.
    this.#sweep = setInterval(() => this.#dropExpired(), sweepIntervalMs).unref();
  }

  get bytes(): number {
    return this.#bytes;
  }

  keep(keyId: string, id: string, kept: KeptResponse): boolean {
    const { bytesMax, keyBytesMax, now } = this.#options;
    const bytes = countBytes(kept);
    if (bytes > Math.min(bytesMax, keyBytesMax)) return false;
    this.#dropExpired();
    this.#add({ ...kept, keyId, id, bytes, usedAt: now() });
    for (const oldId of this.#shelves.get(keyId)?.ids ?? []) {
      if ((this.#shelves.get(keyId)?.bytes ?? 0) <= keyBytesMax) break;
      this.#drop(oldId);
    }
    while (this.#bytes > bytesMax) this.#drop(this.#oldestOfLargestKey());
    return true;
  }

  find(keyId: string, id: string): KeptResponse | null {
    this.#dropExpired();
    const entry = this.#entries.get(id);
    if (entry?.keyId !== keyId) return null;
    this.#drop(id);
    this.#add({ ...entry, usedAt: this.#options.now() });
    return entry;
  }

  delete(keyId: string, id: string): boolean {
    this.#dropExpired();
    if (this.#entries.get(id)?.keyId !== keyId) return false;
    this.#drop(id);
    return true;
  }

  forget(keyId: string): void {
    for (const id of this.#shelves.get(keyId)?.ids ?? []) this.#drop(id);
  }

  close(): void {
    clearInterval(this.#sweep);
    this.#entries.clear();
    this.#shelves.clear();
    this.#bytes = 0;
  }

  #add(entry: Entry): void {
    const shelf = this.#shelves.get(entry.keyId) ?? { ids: new Set(), bytes: 0 };
    shelf.ids.add(entry.id);
    shelf.bytes += entry.bytes;
    this.#shelves.set(entry.keyId, shelf);
    this.#entries.set(entry.id, entry);
    this.#bytes += entry.bytes;
  }

  /**
   * Selects from the key with the most bytes, so that a key cannot evict the responses of keys that use less
   * memory.
   */
  #oldestOfLargestKey(): string {
    let ids: Iterable<string> = [];
    let bytesMax = 0;
    for (const shelf of this.#shelves.values()) {
      if (shelf.bytes > bytesMax) [ids, bytesMax] = [shelf.ids, shelf.bytes];
    }
    const [oldest = ""] = ids;
    return oldest;
  }

  #drop(id: string): void {
    const entry = this.#entries.get(id);
    const shelf = entry && this.#shelves.get(entry.keyId);
    if (!entry || !shelf) return;
    this.#entries.delete(id);
    this.#bytes -= entry.bytes;
    shelf.ids.delete(id);
    shelf.bytes -= entry.bytes;
    if (shelf.ids.size === 0) this.#shelves.delete(entry.keyId);
  }

  #dropExpired(): void {
    const { now, keptMs } = this.#options;
    const expiredAt = now() - keptMs;
    for (const [id, { usedAt }] of this.#entries) {
      if (usedAt > expiredAt) return;
      this.#drop(id);
    }
  }
}

const sweepIntervalMs = 10_000;

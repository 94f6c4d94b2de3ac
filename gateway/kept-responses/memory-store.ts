import {
  countBytes,
  packResponse,
  unpackResponse,
  type KeptResponse,
  type ResponseStore,
} from "./response-store.ts";

export type MemoryStoreOptions = {
  now: () => number;
  keptMs: number;
  bytesMax: number;
  keyBytesMax: number;
};

type Entry = Readonly<{
  keyId: string;
  id: string;
  packed: Buffer;
  bytes: number;
  keptMs: number;
  expiresAt: number;
}>;

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

  /** @param keptMs the time after the last use for which the response is kept */
  keep(keyId: string, id: string, kept: KeptResponse, keptMs = this.#options.keptMs): boolean {
    const { bytesMax, keyBytesMax, now } = this.#options;
    const bytes = countBytes(kept);
    if (bytes > Math.min(bytesMax, keyBytesMax)) return false;
    this.#drop(id);
    this.#add({ keyId, id, packed: packResponse(kept), bytes, keptMs, expiresAt: now() + keptMs });
    for (const oldId of this.#shelves.get(keyId)?.ids ?? []) {
      if ((this.#shelves.get(keyId)?.bytes ?? 0) <= keyBytesMax) break;
      this.#drop(oldId);
    }
    while (this.#bytes > bytesMax) this.#drop(this.#oldestOfLargestKey());
    return true;
  }

  find(keyId: string, id: string): KeptResponse | null {
    const entry = this.#entryOf(keyId, id);
    if (entry === null) return null;
    this.#drop(id);
    this.#add({ ...entry, expiresAt: this.#options.now() + entry.keptMs });
    return unpackResponse(entry.packed);
  }

  delete(keyId: string, id: string): boolean {
    const entry = this.#entryOf(keyId, id);
    if (entry !== null) this.#drop(id);
    return entry !== null;
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

  #entryOf(keyId: string, id: string): Entry | null {
    const entry = this.#entries.get(id);
    if (entry?.keyId !== keyId) return null;
    if (entry.expiresAt > this.#options.now()) return entry;
    this.#drop(id);
    return null;
  }

  #add(entry: Entry): void {
    const shelf = this.#shelves.get(entry.keyId) ?? { ids: new Set(), bytes: 0 };
    shelf.ids.add(entry.id);
    shelf.bytes += entry.bytes;
    this.#shelves.set(entry.keyId, shelf);
    this.#entries.set(entry.id, entry);
    this.#bytes += entry.bytes;
  }

  /** A key cannot evict the responses of keys that use less memory. */
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

  /** Walks all entries, because they may have different times. */
  #dropExpired(): void {
    const now = this.#options.now();
    for (const [id, { expiresAt }] of this.#entries) if (expiresAt <= now) this.#drop(id);
  }
}

const sweepIntervalMs = 10_000;

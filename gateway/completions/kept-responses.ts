import type { KeptItems, KeptTurn } from "../dialects/dialect.ts";
import type { Settings } from "../config/limit-variables.ts";
import { GatewayError } from "../errors.ts";
import { countValues, scanMembers } from "../wire/json-layout.ts";

/** A response for follow-ups, as JSON. */
export type KeptResponse = {
  /** The body of its request. Null where only its items can be referenced. */
  request: Buffer | null;
  response: Buffer;
  previousId: string | null;
};

type Entry = Omit<KeptResponse, "request"> & { expiresAt: number };

/** Both maps begin with the least recently used. */
type KeyResponses = { bytes: number; responses: Map<string, Entry>; requests: Map<string, Buffer> };

/**
 * Keeps translated responses for `previous_response_id` and `item_reference`, in memory only. Each key has its own
 * share, so one key cannot evict another's responses.
 */
export class KeptResponses {
  readonly #now: () => number;
  readonly #limits: Settings;
  readonly #keys = new Map<string, KeyResponses>();
  #bytes = 0;
  readonly #sweep: NodeJS.Timeout;

  constructor({ now, limits }: { now: () => number; limits: Settings }) {
    this.#now = now;
    this.#limits = limits;
    this.#sweep = setInterval(() => this.sweep(), sweepIntervalMs).unref();
  }

  close(): void {
    clearInterval(this.#sweep);
  }

  keep(keyId: string, id: string, { request, response, previousId }: KeptResponse): void {
    const { responsesStateBytesPerKeyMax: keyBytesMax, responsesStateBytesMax: bytesMax } = this.#limits;
    const bytes = response.length + entryBytes;
    if (bytes > keyBytesMax) return;
    const key = this.#keys.get(keyId) ?? { bytes: 0, responses: new Map(), requests: new Map() };
    this.#keys.set(keyId, key);
    key.responses.set(id, { response, previousId, expiresAt: this.#expiry() });
    this.#count(key, bytes);
    if (request !== null && bytes + request.length <= keyBytesMax) {
      // A copy, because the received body may be part of a larger buffer.
      key.requests.set(id, Buffer.from(request));
      this.#count(key, request.length);
    }
    while (key.bytes > keyBytesMax) this.#evictOldest(keyId, key);
    while (this.#bytes > bytesMax) this.#evictOldest(...this.#largest());
  }

  /** Null for an unknown, expired or evicted response. */
  find(keyId: string, id: string): KeptResponse | null {
    const key = this.#keys.get(keyId);
    const entry = key?.responses.get(id);
    if (!key || !entry || entry.expiresAt <= this.#now()) return null;
    const request = key.requests.get(id) ?? null;
    key.responses.delete(id);
    key.responses.set(id, { ...entry, expiresAt: this.#expiry() });
    if (request && key.requests.delete(id)) key.requests.set(id, request);
    return { ...entry, request };
  }

  /** Returns false for an unknown response. */
  delete(keyId: string, id: string): boolean {
    const key = this.#keys.get(keyId);
    if (!key || this.find(keyId, id) === null) return false;
    this.#remove(keyId, key, id);
    return true;
  }

  /** Drops the responses of one key, or of all. */
  forget(keyId?: string): void {
    for (const [id, key] of keyId === undefined ? this.#keys : [[keyId, this.#keys.get(keyId)] as const]) {
      if (key) this.#count(key, -key.bytes);
      this.#keys.delete(id);
    }
  }

  sweep(): void {
    const now = this.#now();
    for (const [keyId, key] of this.#keys) {
      for (const [id, { expiresAt }] of key.responses) if (expiresAt <= now) this.#remove(keyId, key, id);
    }
  }

  /** The items of a key for one request. */
  itemsOf(keyId: string): KeptItems {
    return new ItemReader((id) => this.find(keyId, id), this.#limits);
  }

  /** Requests first, because a reference to an item needs only the response. */
  #evictOldest(keyId: string, key: KeyResponses): void {
    const [oldest] = key.requests;
    if (oldest && key.requests.size > 1) {
      key.requests.delete(oldest[0]);
      this.#count(key, -oldest[1].length);
      return;
    }
    const [id = ""] = key.responses.keys();
    this.#remove(keyId, key, id);
  }

  #largest(): [string, KeyResponses] {
    return [...this.#keys].reduce((largest, each) => (each[1].bytes > largest[1].bytes ? each : largest));
  }

  #remove(keyId: string, key: KeyResponses, id: string): void {
    const bytes = (key.responses.get(id)?.response.length ?? 0) + (key.requests.get(id)?.length ?? 0);
    key.responses.delete(id);
    key.requests.delete(id);
    this.#count(key, -bytes - entryBytes);
    if (key.responses.size === 0) this.#keys.delete(keyId);
  }

  #count(key: KeyResponses, bytes: number): void {
    key.bytes += bytes;
    this.#bytes += bytes;
  }

  #expiry(): number {
    return this.#now() + this.#limits.responsesStateAgeMsMax;
  }
}

/** Parses kept responses for one request. Together they may be as large as one request. */
class ItemReader implements KeptItems {
  readonly #find: (id: string) => KeptResponse | null;
  readonly #bytesMax: number;
  readonly #values: ReturnType<typeof countValues>;
  #bytes = 0;

  constructor(find: (id: string) => KeptResponse | null, limits: Settings) {
    this.#find = find;
    this.#bytesMax = limits.requestTextBytesMax;
    this.#values = countValues(limits.requestJsonValuesMax);
  }

  turnsUntil(lastId: string): KeptTurn[] | null {
    const turns: KeptTurn[] = [];
    for (let id: string | null = lastId; id !== null;) {
      const kept = this.#find(id);
      if (!kept?.request) return null;
      turns.push({ request: this.#parse(kept.request), response: this.#parse(kept.response) });
      id = kept.previousId;
    }
    return turns.toReversed();
  }

  response(id: string): Record<string, unknown> | null {
    const kept = this.#find(id);
    return kept && this.#parse(kept.response);
  }

  #parse(bytes: Buffer): Record<string, unknown> {
    this.#bytes += bytes.length;
    if (
      this.#bytes > this.#bytesMax ||
      scanMembers(bytes, 0, bytes.length, Infinity, () => {}, this.#values) === "too many values"
    ) {
      throw new GatewayError(
        "request_too_large",
        "The conversation so far is too large to continue. Send a shorter conversation in `input`.",
      );
    }
    return JSON.parse(bytes.toString("utf8")) as Record<string, unknown>;
  }
}

const sweepIntervalMs = 60_000;
/** The approximate size of an entry besides its JSON. */
const entryBytes = 512;

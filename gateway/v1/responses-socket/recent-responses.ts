import { readTotalTokens } from "../../kept-responses/kept-responses.ts";
import type { MemoryStore } from "../../kept-responses/memory-store.ts";
import type { KeptItems } from "../../kept-responses/response-store.ts";
import { parseExact } from "../../wire/exact-numbers.ts";
import { isObject, stringifyJson } from "../../wire/json.ts";
import { formatItems, type JsonItems } from "../../wire/json-items.ts";

type RecentResponsesOptions = {
  store: MemoryStore;
  connectionId: string;
  keyId: string;
  countMax: number;
  keptMs: number;
};

/** Keeps the latest response of each stream of a connection, except responses with `store: true`. */
export class RecentResponses {
  readonly #options: RecentResponsesOptions;
  /** Response IDs by stream ID, the oldest response first. */
  readonly #ids = new Map<string | null, string>();

  constructor(options: RecentResponsesOptions) {
    this.#options = options;
  }

  /**
   * @param readInput returns the request's input with its references resolved
   * @param event the event that ends the response. An upstream may send invalid JSON, which cannot be kept.
   */
  keep(streamId: string | null, readInput: () => JsonItems, event: string): void {
    const parsed = parseIfValid(event);
    const response = isObject(parsed) ? parsed["response"] : null;
    if (!isObject(response) || typeof response["id"] !== "string" || response["store"] === true) return;
    const { store, keyId, countMax, keptMs } = this.#options;
    this.#drop(streamId);
    const output = Array.isArray(response["output"]) ? response["output"].filter(canReturn) : [];
    // Deep nesting cannot be kept.
    if (stringifyJson(output) === null) return;
    const tokens = readTotalTokens(response);
    const kept = { response: noBytes, input: readInput(), output: formatItems(output), tokens };
    if (!store.keep(keyId, this.#storedId(response["id"]), kept, keptMs)) return;
    this.#ids.set(streamId, response["id"]);
    const [oldest = null] = this.#ids.keys();
    if (this.#ids.size > countMax) this.#drop(oldest);
  }

  find(id: string): KeptItems | null {
    return this.#options.store.find(this.#options.keyId, this.#storedId(id));
  }

  forget(id: string): void {
    for (const [streamId, known] of this.#ids) if (known === id) this.#drop(streamId);
  }

  close(): void {
    for (const streamId of this.#ids.keys()) this.#drop(streamId);
  }

  #drop(streamId: string | null): void {
    const id = this.#ids.get(streamId);
    if (id === undefined) return;
    this.#ids.delete(streamId);
    this.#options.store.delete(this.#options.keyId, this.#storedId(id));
  }

  /** Upstreams choose their own IDs, so two connections may have the same response ID. */
  #storedId(id: string): string {
    return `${this.#options.connectionId} ${id}`;
  }
}

/** Without `encrypted_content`, OpenAI accepts only reasoning from responses that OpenAI has stored. */
function canReturn(item: unknown): boolean {
  return !isObject(item) || item["type"] !== "reasoning" || typeof item["encrypted_content"] === "string";
}

const noBytes = Buffer.alloc(0);

function parseIfValid(event: string): unknown {
  try {
    return parseExact(event);
  } catch {
    return null;
  }
}

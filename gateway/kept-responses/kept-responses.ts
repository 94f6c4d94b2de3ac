import type { KeptAnswer } from "../dialects/dialect.ts";
import { GatewayError } from "../errors.ts";
import {
  type FollowUpLimits,
  isResponseId,
  mayFollowUp,
  quotable,
  readFollowUp,
  type ResolvedFollowUp,
} from "./follow-up.ts";
import type { KeptResponse, ResponseStore } from "./response-store.ts";
import type { Config } from "../config/config.ts";
import type { SecretBox } from "../credentials/secret-box.ts";
import type { Runtime } from "../runtime.ts";
import { MemoryStore } from "./memory-store.ts";
import { isObject, listOf } from "../wire/json.ts";
import { formatItems, itemAt, type JsonItems } from "../wire/json-items.ts";
import { parseExact } from "../wire/exact-numbers.ts";
import { invalidValue } from "../wire/parameter-errors.ts";

type KeptResponsesOptions = {
  store: ResponseStore;
  limits: FollowUpLimits & Readonly<Record<"responseBytesMax", number>>;
};

/** Keeps translated responses for a limited time, so that clients can refer to them as in OpenAI's API. */
export class KeptResponses {
  readonly #options: KeptResponsesOptions;

  constructor(options: KeptResponsesOptions) {
    this.#options = options;
  }

  /** Returns whether the response is kept. The input has its references resolved. */
  keep(keyId: string, { response, output }: KeptAnswer, input: unknown): boolean {
    const items = typeof input === "string" ? [{ role: "user", content: input }] : listOf(input);
    const kept = {
      response: Buffer.from(JSON.stringify(response)),
      input: formatItems(items),
      output: formatItems(output),
      tokens: readTotalTokens(response),
    };
    const { store, limits } = this.#options;
    const bytes = kept.response.length + kept.input.bytes.length + kept.output.bytes.length;
    return bytes <= limits.responseBytesMax && store.keep(keyId, response.id, kept);
  }

  /** Null for a body that cannot contain references. The search may throw `request_too_large` or `service_unavailable`. */
  finderFor(keyId: string, bytes: Buffer): (() => Promise<ResolvedFollowUp | null>) | null {
    if (!mayFollowUp(bytes)) return null;
    return () => readFollowUp(bytes, this.#options.limits, (id) => this.find(keyId, id));
  }

  /** Returns null for an unknown ID. May throw `service_unavailable`. */
  find(keyId: string, id: string): KeptResponse | null | Promise<KeptResponse | null> {
    return isResponseId(id) ? this.#options.store.find(keyId, id) : null;
  }

  /** The response as JSON. Throws `response_not_found` or `service_unavailable`. */
  async get(keyId: string, id: string): Promise<Buffer> {
    return (await this.#find(keyId, id)).response;
  }

  /** A page of the response's input. Throws `response_not_found`, `service_unavailable` or `invalid_value`. */
  async inputItems(keyId: string, id: string, query: URLSearchParams): Promise<object> {
    const { input } = await this.#find(keyId, id);
    return listInputItems(input, id, query);
  }

  /** Throws `response_not_found` or `service_unavailable`. */
  async delete(keyId: string, id: string): Promise<void> {
    if (!isResponseId(id) || !(await this.#options.store.delete(keyId, id))) throw responseNotFound(id);
  }

  forget(keyId: string): void {
    this.#options.store.forget(keyId);
  }

  async #find(keyId: string, id: string): Promise<KeptResponse> {
    const kept = await this.find(keyId, id);
    if (kept === null) throw responseNotFound(id);
    return kept;
  }
}

/** Reads the tokens that a response reports, or 0. */
export function readTotalTokens(response: object): number {
  const usage = "usage" in response ? response.usage : null;
  const tokens = isObject(usage) ? usage["total_tokens"] : 0;
  return typeof tokens === "number" && tokens > 0 && tokens <= tokensMax ? Math.floor(tokens) : 0;
}

const tokensMax = 2 ** 31 - 1;

export function responseNotFound(id: string): GatewayError {
  const message = `Response with id '${quotable(id)}' not found. Check the ID: translated responses expire, and responses with \`store: false\` are never stored.`;
  return new GatewayError("response_not_found", message);
}

/**
 * Creates the store that `RESPONSES_STATE` selects. `keptResponses` is null if responses are not kept. WebSockets
 * keep their recent responses in `memoryStore`, so that both share one limit.
 */
export async function startKeptResponses(
  { responsesState, valkeyUrl, limits }: Config,
  { runtime, secretBox }: { runtime: Runtime; secretBox: SecretBox },
) {
  const { responsesKeptMs: keptMs, responsesBytesMax: bytesMax, responsesPerKeyBytesMax } = limits;
  const common = { keptMs, keyBytesMax: responsesPerKeyBytesMax };
  const memoryStore = new MemoryStore({ ...common, now: runtime.monotonicNow, bytesMax });
  const started = (store: ResponseStore | null) => ({
    keptResponses: store && new KeptResponses({ store, limits }),
    memoryStore,
    close() {
      memoryStore.close();
      store?.close();
    },
  });
  if (responsesState === "memory") return started(memoryStore);
  if (responsesState === "off" || valkeyUrl === null) return started(null);
  const { ValkeyStore } = await import("./valkey-store.ts");
  const { log } = runtime;
  const timeoutMs = limits.valkeyTimeoutMs;
  const store = new ValkeyStore({ ...common, url: valkeyUrl, timeoutMs, secretBox, log });
  await store.attempted();
  return started(store);
}

/** Parses one page. https://platform.openai.com/docs/api-reference/responses/input-items */
function listInputItems(items: JsonItems, responseId: string, query: URLSearchParams) {
  const limit = Number(query.get("limit") ?? 20);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    throw invalidValue("limit", "must be a whole number from 1 to 100", query.get("limit"));
  const order = query.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc") throw invalidValue("order", "must be asc or desc", order);
  const list = new ListedItems(items, responseId);
  const count = items.starts.length;
  // Positions count in the requested order.
  const indexAt = (position: number) => (order === "asc" ? position : count - 1 - position);
  const after = query.get("after");
  const from = after === null ? 0 : indexAt(list.find(after, order)) + 1;
  const until = Math.min(count, from + limit);
  const data = [];
  for (let position = from; position < until; position++) data.push(list.at(indexAt(position)));
  return {
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: until < count,
  };
}

class ListedItems {
  readonly #items: JsonItems;
  readonly #suffix: string;

  constructor(items: JsonItems, responseId: string) {
    this.#items = items;
    this.#suffix = `${responseId.slice("resp_".length)}_in`;
  }

  at(index: number): { id: string } {
    const bytes = itemAt(this.#items, index);
    return formatItem(bytes && parseExact(bytes.toString("utf8")), `${this.#suffix}${index}`);
  }

  /**
   * Returns the index of the first item in this order with the ID. Parses only items that contain the ID's text.
   * Throws `invalid_value` for an unknown ID.
   */
  find(id: string, order: "asc" | "desc"): number {
    const { bytes, starts } = this.#items;
    const text = JSON.stringify(id);
    const generated = Number(id.split(this.#suffix)[1] ?? NaN);
    let found = generated < starts.length && this.at(generated).id === id ? generated : -1;
    for (let at = bytes.indexOf(text); at !== -1;) {
      const index = this.#indexOf(at);
      const isNearer = found === -1 || (order === "asc" ? index < found : index > found);
      if (isNearer && this.at(index).id === id) found = index;
      if (found === index && order === "asc") break;
      const next = starts[index + 1];
      at = next === undefined ? -1 : bytes.indexOf(text, next);
    }
    if (found === -1) throw invalidValue("after", "must be the ID of an item of this list", id);
    return found;
  }

  /** Returns the index of the item that contains the position. */
  #indexOf(position: number): number {
    const { starts } = this.#items;
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** OpenAI's API gives every item an ID and a type, and every message a list of parts. */
function formatItem(item: unknown, suffix: string): { id: string } {
  const { id, type = "message", content, ...rest } = isObject(item) ? item : {};
  const prefix = idPrefixes.get(String(type)) ?? "item";
  const parts =
    typeof content === "string" && type === "message"
      ? [{ type: rest["role"] === "assistant" ? "output_text" : "input_text", text: content }]
      : content;
  return {
    id: typeof id === "string" ? id : `${prefix}_${suffix}`,
    type,
    ...(type === "message" && { status: "completed" }),
    ...rest,
    ...(parts !== undefined && { content: parts }),
  } as { id: string };
}

const idPrefixes = new Map([
  ["message", "msg"],
  ["reasoning", "rs"],
  ["function_call", "fc"],
  ["function_call_output", "fc"],
  ["custom_tool_call", "ctc"],
  ["custom_tool_call_output", "ctc"],
]);

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
import { listInputItems } from "./input-items.ts";
import type { KeptResponse, ResponseStore } from "./response-store.ts";
import type { Config } from "../config/config.ts";
import type { SecretBox } from "../credentials/secret-box.ts";
import type { Runtime } from "../runtime.ts";
import { MemoryStore } from "./memory-store.ts";
import { isObject, listOf } from "../wire/json.ts";
import { formatItems } from "../wire/json-items.ts";

type KeptResponsesOptions = {
  store: ResponseStore;
  limits: FollowUpLimits & Readonly<Record<"responseBytesMax", number>>;
};

/** Keeps translated responses for a limited time, so that clients can refer to them as in OpenAI's API. */
export class KeptResponses {
  readonly #store: ResponseStore;
  readonly #limits: KeptResponsesOptions["limits"];

  constructor({ store, limits }: KeptResponsesOptions) {
    this.#store = store;
    this.#limits = limits;
  }

  /**
   * Returns whether the response is kept.
   * @param input the request's input with its references resolved
   */
  keep(keyId: string, { response, output }: KeptAnswer, input: unknown): boolean {
    const items = typeof input === "string" ? [{ role: "user", content: input }] : listOf(input);
    const kept = {
      response: Buffer.from(JSON.stringify(response)),
      input: formatItems(items),
      output: formatItems(output),
      tokens: readTotalTokens(response),
    };
    const bytes = kept.response.length + kept.input.bytes.length + kept.output.bytes.length;
    return bytes <= this.#limits.responseBytesMax && this.#store.keep(keyId, response.id, kept);
  }

  /**
   * Returns null for a body that cannot contain references. The search may throw `request_too_large` or
   * `service_unavailable`.
   */
  finderFor(keyId: string, bytes: Buffer): (() => Promise<ResolvedFollowUp | null>) | null {
    if (!mayFollowUp(bytes)) return null;
    return () => readFollowUp(bytes, this.#limits, (id) => this.find(keyId, id));
  }

  /** Returns null for an unknown ID. May throw `service_unavailable`. */
  find(keyId: string, id: string): KeptResponse | null | Promise<KeptResponse | null> {
    return isResponseId(id) ? this.#store.find(keyId, id) : null;
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
    if (!isResponseId(id) || !(await this.#store.delete(keyId, id))) throw responseNotFound(id);
  }

  forget(keyId: string): void {
    this.#store.forget(keyId);
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

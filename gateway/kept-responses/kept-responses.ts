import type { FollowUp } from "../completions/operation.ts";
import type { KeptAnswer } from "../dialects/dialect.ts";
import { GatewayError } from "../errors.ts";
import { type FollowUpLimits, isResponseId, mayFollowUp, quotable, readFollowUp } from "./follow-up.ts";
import type { KeptResponse, ResponseStore } from "./response-store.ts";
import type { Config } from "../config/config.ts";
import type { SecretBox } from "../credentials/secret-box.ts";
import type { Runtime } from "../runtime.ts";
import { MemoryStore } from "./memory-store.ts";
import { invalidValue } from "../wire/parameter-errors.ts";
import { isObject } from "../wire/json.ts";

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
    const items: unknown = typeof input === "string" ? [{ role: "user", content: input }] : (input ?? []);
    const kept = { response: toBytes(response), input: toBytes(items), output: toBytes(output) };
    const bytes = kept.response.length + kept.input.length + kept.output.length;
    return bytes <= this.#limits.responseBytesMax && this.#store.keep(keyId, response.id, kept);
  }

  /**
   * Returns null instead of a promise for a body that cannot contain references. Throws `request_too_large`
   * or `service_unavailable`.
   */
  followUp(keyId: string, bytes: Buffer): Promise<FollowUp | null> | null {
    if (!mayFollowUp(bytes)) return null;
    return readFollowUp(bytes, this.#limits, (id) => this.find(keyId, id));
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
    return listInputItems(JSON.parse(input.toString("utf8")) as unknown[], id, query);
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

function toBytes(value: object | unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

export function responseNotFound(id: string): GatewayError {
  const message = `Response with id '${quotable(id)}' not found. Check the ID: translated responses expire, and responses with \`store: false\` are never stored.`;
  return new GatewayError("response_not_found", message);
}

/** Creates the store that `RESPONSES_STATE` selects. `keptResponses` is null if responses are not kept. */
export async function startKeptResponses(
  { responsesState, valkeyUrl, limits }: Config,
  { runtime, secretBox }: { runtime: Runtime; secretBox: SecretBox },
) {
  const { responsesKeptMs: keptMs, responsesBytesMax: bytesMax, responsesPerKeyBytesMax } = limits;
  const common = { keptMs, keyBytesMax: responsesPerKeyBytesMax };
  if (responsesState === "memory") {
    const store = new MemoryStore({ ...common, now: runtime.now, bytesMax });
    return { keptResponses: new KeptResponses({ store, limits }), close: () => store.close() };
  }
  if (responsesState === "off" || valkeyUrl === null) return { keptResponses: null, close: () => {} };
  const { ValkeyStore } = await import("./valkey-store.ts");
  const { log } = runtime;
  const timeoutMs = limits.valkeyTimeoutMs;
  const store = new ValkeyStore({ ...common, url: valkeyUrl, timeoutMs, secretBox, log });
  await store.attempted();
  return { keptResponses: new KeptResponses({ store, limits }), close: () => store.close() };
}

/** https://platform.openai.com/docs/api-reference/responses/input-items */
function listInputItems(items: readonly unknown[], responseId: string, query: URLSearchParams) {
  const limit = Number(query.get("limit") ?? 20);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    throw invalidValue("limit", "must be a whole number from 1 to 100", query.get("limit"));
  const order = query.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc") throw invalidValue("order", "must be asc or desc", order);
  const listed = items.map((item, index) => formatItem(item, `${responseId.slice(5)}_in${index}`));
  if (order === "desc") listed.reverse();
  const after = query.get("after");
  const from = after === null ? 0 : listed.findIndex(({ id }) => id === after) + 1;
  if (after !== null && from === 0)
    throw invalidValue("after", "must be the ID of an item of this list", after);
  const data = listed.slice(from, from + limit);
  return {
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: from + limit < listed.length,
  };
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

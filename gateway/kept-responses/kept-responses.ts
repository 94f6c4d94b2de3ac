import type { FollowUp } from "../completions/operation.ts";
import type { KeptAnswer } from "../dialects/dialect.ts";
import { GatewayError } from "../errors.ts";
import { type FollowUpLimits, isResponseId, mayFollowUp, quotable, readFollowUp } from "./follow-up.ts";
import { listInputItems } from "./input-items.ts";
import type { KeptResponse, ResponseStore } from "./response-store.ts";

type KeptResponsesOptions = {
  store: ResponseStore;
  limits: FollowUpLimits & Readonly<Record<"responseBytesMax", number>>;
};

/** Translated responses of the last hour, so that clients can refer to them as at OpenAI. */
export class KeptResponses {
  readonly #store: ResponseStore;
  readonly #limits: KeptResponsesOptions["limits"];

  constructor({ store, limits }: KeptResponsesOptions) {
    this.#store = store;
    this.#limits = limits;
  }

  /**
   * Keeps a finished response. Returns whether it is kept.
   * @param input the resolved input of its request
   */
  keep(keyId: string, { response, output }: KeptAnswer, input: unknown): boolean {
    const items: unknown = typeof input === "string" ? [{ role: "user", content: input }] : (input ?? []);
    const kept = { response: toBytes(response), input: toBytes(items), output: toBytes(output) };
    const bytes = kept.response.length + kept.input.length + kept.output.length;
    return bytes <= this.#limits.responseBytesMax && this.#store.keep(keyId, response.id, kept);
  }

  /**
   * Returns null at once for a request without references. Throws `request_too_large` or
   * `service_unavailable`.
   */
  followUp(keyId: string, bytes: Buffer): Promise<FollowUp | null> | null {
    if (!mayFollowUp(bytes)) return null;
    return readFollowUp(bytes, this.#limits, (id) => this.find(keyId, id));
  }

  /** Returns null for an unknown ID, or one of another gateway. May throw `service_unavailable`. */
  find(keyId: string, id: string): KeptResponse | null | Promise<KeptResponse | null> {
    return isResponseId(id) ? this.#store.find(keyId, id) : null;
  }

  /** The response as JSON. Throws `response_not_found`. */
  async get(keyId: string, id: string): Promise<Buffer> {
    return (await this.#find(keyId, id)).response;
  }

  /** A page of the response's input. Throws `response_not_found` or `invalid_value`. */
  async inputItems(keyId: string, id: string, query: URLSearchParams): Promise<object> {
    const { input } = await this.#find(keyId, id);
    return listInputItems(JSON.parse(input.toString("utf8")) as unknown[], id, query);
  }

  /** Throws `response_not_found`. */
  async delete(keyId: string, id: string): Promise<void> {
    if (!isResponseId(id) || !(await this.#store.delete(keyId, id))) throw responseNotFound(id);
  }

  /** Drops every response of a key. */
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

/** Uses OpenAI's wording. */
export function responseNotFound(id: string): GatewayError {
  const message = `Response with id '${quotable(id)}' not found. The gateway keeps translated responses for a limited time, and none with \`store: false\`.`;
  return new GatewayError("response_not_found", message);
}

import type { IncomingMessage, ServerResponse } from "node:http";
import { GrowingBody } from "../wire/bytes.ts";
import { type BodyBudget, type HeldBody, strangers } from "./body-budget.ts";

/**
 * Joins the chunks that arrive before a handler reads the body, for example while it looks up the key. Node would
 * keep each one-byte chunk in about 200 bytes.
 */
export function joinEarlyChunks(
  request: IncomingMessage,
  response: ServerResponse,
  budget: BodyBudget,
): void {
  // Other bodies arrive in few pieces.
  if (request.headers["transfer-encoding"] === undefined) return;
  const early = new EarlyBody(request, budget.hold(strangers));
  earlyBodies.set(request, early);
  response.on("close", () => early.end());
}

/** Ends the joining. Throws `service_unavailable` if the chunks did not fit into the memory for strangers. */
export function takeEarlyBytes(request: IncomingMessage): Buffer | null {
  return earlyBodies.get(request)?.take() ?? null;
}

export function forgetEarlyBytes(request: IncomingMessage): void {
  earlyBodies.get(request)?.end();
}

const earlyBodies = new WeakMap<IncomingMessage, EarlyBody>();

class EarlyBody {
  readonly #request: IncomingMessage;
  readonly #held: HeldBody;
  readonly #body = new GrowingBody(earlyBytesMax);
  readonly #join = (chunk: Buffer) => this.#append(chunk);
  #error: unknown = null;

  constructor(request: IncomingMessage, held: HeldBody) {
    this.#request = request;
    this.#held = held;
    request.on("data", this.#join);
  }

  take(): Buffer {
    const { bytes } = this.#body;
    this.end();
    if (this.#error !== null) throw this.#error;
    return bytes;
  }

  end(): void {
    this.#request.off("data", this.#join);
    this.#held.release();
    this.#body.clear();
  }

  #append(chunk: Buffer): void {
    if (this.#error !== null) return;
    try {
      this.#held.add(chunk.length);
      this.#body.append(chunk);
      if (this.#body.length >= earlyBytesMax) this.#request.pause();
    } catch (error) {
      this.#error = error;
      this.#held.release();
      this.#body.clear();
    }
  }
}

/** Enough for what a client sends during a lookup. */
const earlyBytesMax = 1024 * 1024;

import type { IncomingMessage, ServerResponse } from "node:http";
import { GatewayError } from "../errors.ts";
import { GrowingBody } from "../wire/bytes.ts";
import { decodeBody, isDecodable, tooLarge } from "./decode-body.ts";
import { type HeldBody, type BodyBudget, strangers } from "./body-budget.ts";

/**
 * Reads and decompresses a body. `bytesMax` limits the body before and after decompression. Rejects with a
 * `GatewayError`, or with `ClientGoneError` if the client disconnects.
 */
export function readBody(request: IncomingMessage, bytesMax: number, held: HeldBody): Promise<Buffer> {
  const encoding = encodingOf(request);
  if (encoding === "identity") return receiveBody(request, bytesMax, held);
  if (!isDecodable(encoding)) return refuseBody(request, held, unsupportedEncoding(encoding));
  return readEncodedBody({ request, encoding, bytesMax, held });
}

/** Like `readBody`, but refuses compressed bodies, because a decoder needs more memory than it receives. */
export function readPlainBody(request: IncomingMessage, bytesMax: number, held: HeldBody): Promise<Buffer> {
  if (encodingOf(request) === "identity") return receiveBody(request, bytesMax, held);
  const message = "This URL accepts no Content-Encoding. Send the body uncompressed.";
  return refuseBody(request, held, new GatewayError("unsupported_encoding", message));
}

function encodingOf({ headers }: IncomingMessage): string {
  return headers["content-encoding"]?.toLowerCase() ?? "identity";
}

type EncodedRequest = { request: IncomingMessage; encoding: string; bytesMax: number; held: HeldBody };

async function readEncodedBody({ request, encoding, bytesMax, held }: EncodedRequest): Promise<Buffer> {
  const bytes = await receiveBody(request, bytesMax, held);
  try {
    return await decodeBody({ bytes, encoding, bytesMax, held });
  } catch (error) {
    if (held.isReleased) throw new ClientGoneError();
    held.release();
    throw error;
  }
}

function refuseBody(request: IncomingMessage, held: HeldBody, error: unknown): Promise<never> {
  held.release();
  earlyBodies.get(request)?.end();
  if (request.destroyed && !request.readableEnded) return Promise.reject(new ClientGoneError());
  discardRest(request);
  return Promise.reject(error);
}

function receiveBody(request: IncomingMessage, bytesMax: number, held: HeldBody): Promise<Buffer> {
  // If the client has already disconnected, no event will settle the promise.
  // Node also destroys a request whose body was read whole, here as early chunks.
  if (request.destroyed && !request.readableEnded) return Promise.reject(new ClientGoneError());
  const { "content-length": length } = request.headers;
  if (Number(length) > bytesMax) return refuseBody(request, held, tooLarge(bytesMax));
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const body = new GrowingBody(Math.min(Number(length ?? Infinity), bytesMax), true);
  const append = (chunk: Buffer) => {
    if (body.length + chunk.length > bytesMax) throw tooLarge(bytesMax);
    held.add(chunk.length);
    body.append(chunk);
  };
  try {
    const early = earlyBodies.get(request)?.take();
    if (early) append(early);
  } catch (error) {
    return refuseBody(request, held, error);
  }
  if (request.readableEnded) return Promise.resolve(body.bytes);
  request.on("data", (chunk: Buffer) => {
    try {
      append(chunk);
    } catch (error) {
      request.removeAllListeners("data");
      body.clear();
      refuseBody(request, held, error).catch(reject);
    }
  });
  request.on("end", () => resolve(body.bytes));
  const leave = () => {
    if (request.complete) return;
    held.release();
    body.clear();
    reject(new ClientGoneError());
  };
  request.on("error", leave);
  request.on("close", leave);
  // The early chunks may have paused it.
  request.resume();
  return promise;
}

function unsupportedEncoding(encoding: string): GatewayError {
  const name = /^[\w, -]{1,40}$/.test(encoding)
    ? `Content-Encoding ${encoding}`
    : "request's Content-Encoding";
  const message = `The ${name} is not supported. Use gzip, br or zstd, or send the body uncompressed.`;
  return new GatewayError("unsupported_encoding", message);
}

/** The client has disconnected, so no response can be sent. */
export class ClientGoneError extends Error {
  override readonly name = "ClientGoneError";
}

/** Keeps the connection open, because a client that is still sending would lose the response. */
function discardRest(request: IncomingMessage): void {
  if (request.readableEnded) return;
  request.resume();
  const timer = setTimeout(() => request.destroy(), discardTimeoutMs).unref();
  request.on("end", () => clearTimeout(timer));
  request.on("close", () => clearTimeout(timer));
}

const discardTimeoutMs = 10_000;

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

  /** Ends the joining. Throws `service_unavailable` if the chunks did not fit into the memory for strangers. */
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

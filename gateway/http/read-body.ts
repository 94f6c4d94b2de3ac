import type { IncomingMessage } from "node:http";
import type { Transform } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createZstdDecompress } from "node:zlib";
import { GatewayError } from "../errors.ts";
import { GrowingBody } from "../wire/bytes.ts";

/**
 * `bytesMax` limits the body before and after decompression. Rejects with a `GatewayError`, or with
 * `ClientGoneError` if the client disconnects.
 */
export function readBody(request: IncomingMessage, bytesMax: number, held: HeldBody): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const refuse = (error: unknown) => {
    held.release();
    discardRest(request);
    reject(error);
    return promise;
  };
  // If the client has already disconnected, no event will settle the promise.
  if (request.destroyed) {
    reject(new ClientGoneError());
    return promise;
  }
  const { "content-encoding": encoding = "identity", "content-length": length } = request.headers;
  const createDecoder = encoding === "identity" ? null : decoders.get(encoding.toLowerCase());
  if (createDecoder === undefined) return refuse(unsupportedEncoding(encoding));
  if (Number(length) > bytesMax) return refuse(tooLarge(bytesMax));

  const decoder = createDecoder && createDecoder();
  const body = new GrowingBody(decoder ? bytesMax : Math.min(Number(length ?? Infinity), bytesMax));
  const fail = (error: unknown) => {
    request.removeAllListeners("data");
    decoder?.destroy();
    body.clear();
    void refuse(error);
  };
  let receivedBytes = 0;
  const append = (chunk: Buffer) => {
    const lengthMax = decoder ? Math.min(bytesMax, decodedBytesMax(receivedBytes)) : bytesMax;
    try {
      if (body.length + chunk.length > lengthMax) throw tooLarge(bytesMax);
      held.add(chunk.length);
      body.append(chunk);
    } catch (error) {
      fail(error);
    }
  };
  if (decoder) {
    request.on("data", (chunk: Buffer) => {
      receivedBytes += chunk.length;
      if (receivedBytes > bytesMax) return fail(tooLarge(bytesMax));
      if (decoder.write(chunk)) return;
      request.pause();
      decoder.once("drain", () => request.resume());
    });
    request.on("end", () => decoder.end());
    decoder.on("error", () => fail(invalidCompression(encoding)));
  }
  const source = decoder ?? request;
  source.on("data", append);
  source.on("end", () => resolve(body.bytes));
  const leave = () => {
    if (request.complete) return;
    held.release();
    decoder?.destroy();
    reject(new ClientGoneError());
  };
  request.on("error", leave);
  request.on("close", leave);
  return promise;
}

const decoders: ReadonlyMap<string, () => Transform> = new Map([
  ["gzip", () => createGunzip({ chunkSize })],
  ["x-gzip", () => createGunzip({ chunkSize })],
  ["br", () => createBrotliDecompress({ chunkSize })],
  // RFC 9659 allows a window of at most 8 MB. The default would allocate up to 128 MB.
  ["zstd", () => createZstdDecompress({ chunkSize, params: { [constants.ZSTD_d_windowLogMax]: 23 } })],
]);

/** Each chunk waits for a thread of the pool, so small chunks are slow. */
const chunkSize = 65_536;

/** Stops compression bombs early. Real requests expand less than `expansionMax` times. */
function decodedBytesMax(receivedBytes: number): number {
  return Math.max(expandedBytesFree, receivedBytes * expansionMax);
}

const expandedBytesFree = 1_048_576;
const expansionMax = 200;

function unsupportedEncoding(encoding: string): GatewayError {
  const name = /^[\w, -]{1,40}$/.test(encoding)
    ? `Content-Encoding ${encoding}`
    : "request's Content-Encoding";
  const message = `The ${name} is not supported. Use gzip, br or zstd, or send the body uncompressed.`;
  return new GatewayError("unsupported_encoding", message);
}

function invalidCompression(encoding: string): GatewayError {
  const name = encoding.toLowerCase();
  return new GatewayError(
    "invalid_body",
    `The request body is not valid ${name}. Check its Content-Encoding.`,
  );
}

/** The client has disconnected, so no response can be sent. */
export class ClientGoneError extends Error {
  override readonly name = "ClientGoneError";
}

/**
 * Discards the rest of the body instead of closing the connection, because a client that is still sending
 * would lose the response.
 */
function discardRest(request: IncomingMessage): void {
  request.resume();
  const timer = setTimeout(() => request.destroy(), discardTimeoutMs).unref();
  request.on("end", () => clearTimeout(timer));
  request.on("close", () => clearTimeout(timer));
}

const discardTimeoutMs = 10_000;

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError(
    "request_too_large",
    `The request body is larger than ${bytesMax} bytes. Send a smaller request.`,
  );
}

/**
 * Bounds the bytes of request bodies that this process holds in memory. Each holder, such as an API key, may
 * use at most half.
 */
export class BodyBudget {
  readonly #bytesMax: number;
  readonly #bytesByHolder = new Map<string, number>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The caller must release the returned body. */
  hold(holder: string): HeldBody {
    return new HeldBody(this, holder);
  }

  /** Throws `service_unavailable` if the bytes do not fit. */
  add(holder: string, bytes: number): void {
    const held = (this.#bytesByHolder.get(holder) ?? 0) + bytes;
    if (held > this.#bytesMax / 2 || this.#bytes + bytes > this.#bytesMax) throw bodiesInFlight();
    this.#bytesByHolder.set(holder, held);
    this.#bytes += bytes;
  }

  subtract(holder: string, bytes: number): void {
    const held = (this.#bytesByHolder.get(holder) ?? 0) - bytes;
    // Emptying a Map on every request would keep V8's garbage collector busy.
    if (held > 0 || this.#bytesByHolder.size <= holdersKept) this.#bytesByHolder.set(holder, held);
    else this.#bytesByHolder.delete(holder);
    this.#bytes -= bytes;
  }

  get bytes(): number {
    return this.#bytes;
  }
}

export class HeldBody {
  readonly #budget: BodyBudget;
  readonly #holder: string;
  #bytes = 0;
  #isReleased = false;

  constructor(budget: BodyBudget, holder: string) {
    this.#budget = budget;
    this.#holder = holder;
  }

  /** Throws `service_unavailable` if the bytes do not fit or the request has ended. */
  add(bytes: number): void {
    if (this.#isReleased) throw bodiesInFlight();
    this.#budget.add(this.#holder, bytes);
    this.#bytes += bytes;
  }

  /** Can be called more than once. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    if (this.#bytes > 0) this.#budget.subtract(this.#holder, this.#bytes);
  }
}

/** The maximum number of holders that stay in the Map with 0 bytes. */
const holdersKept = 1_000;

function bodiesInFlight(): GatewayError {
  return new GatewayError(
    "service_unavailable",
    "The gateway's memory for request bodies is full. Retry when other requests have finished.",
    { retryAfterSeconds: 1 },
  );
}

import type { IncomingMessage } from "node:http";
import { GatewayError } from "../errors.ts";
import { GrowingBody } from "../wire/growing-body.ts";

/**
 * Reads the request body. Throws `request_too_large` as soon as the size is known, `unsupported_encoding`,
 * `service_unavailable` if `held` has no room, and `ClientGoneError` when the client disconnects.
 */
export function readBody(request: IncomingMessage, bytesMax: number, held: HeldBody): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const refuse = (error: unknown) => {
    held.release();
    discardRest(request);
    reject(error);
    return promise;
  };
  // The client may have left during the key lookup. No event would fire any more.
  if (request.destroyed) {
    reject(new ClientGoneError());
    return promise;
  }
  const { "content-encoding": encoding, "content-length": length } = request.headers;
  if (encoding !== undefined && encoding !== "identity") {
    return refuse(
      new GatewayError(
        "unsupported_encoding",
        "The request body is compressed. Send it without Content-Encoding.",
      ),
    );
  }
  if (Number(length) > bytesMax) return refuse(tooLarge(bytesMax));

  const body = new GrowingBody(Math.min(Number(length ?? Infinity), bytesMax));
  request.on("data", (chunk: Buffer) => {
    try {
      if (body.length + chunk.length > bytesMax) throw tooLarge(bytesMax);
      held.add(chunk.length);
      body.append(chunk);
    } catch (error) {
      request.removeAllListeners("data");
      body.clear();
      void refuse(error);
    }
  });
  request.on("end", () => resolve(body.bytes));
  const leave = () => {
    if (request.complete) return;
    held.release();
    reject(new ClientGoneError());
  };
  request.on("error", leave);
  request.on("close", leave);
  return promise;
}

/** The client has disconnected, so no answer can be sent. */
export class ClientGoneError extends Error {
  override readonly name = "ClientGoneError";
}

/**
 * A client that is still sending does not read. Closing the connection would lose the answer, so the rest is discarded
 * for a while.
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
 * Bounds the bytes of request bodies in this process, from their first byte until their requests end. One holder, such
 * as an API key, may use half of them.
 */
export class BodyBudget {
  readonly #bytesMax: number;
  readonly #bytesByHolder = new Map<string, number>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Starts to count one body. The caller releases it. */
  hold(holder: string): HeldBody {
    return new HeldBody(this, holder);
  }

  /** Throws `service_unavailable` where the bytes do not fit. */
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

  /** Idempotent. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    if (this.#bytes > 0) this.#budget.subtract(this.#holder, this.#bytes);
  }
}

/** Holders that stay in the Map with 0 bytes. */
const holdersKept = 1_000;

function bodiesInFlight(): GatewayError {
  return new GatewayError(
    "service_unavailable",
    "The gateway's memory for request bodies is full. Retry when other requests have finished.",
    { retryAfterSeconds: 1 },
  );
}

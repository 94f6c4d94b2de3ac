import { GatewayError } from "../errors.ts";

/** A person may use at most half of the memory, and one of the person's keys at most seven eighths of that half. */
export type BodyHolder = { person: string; key: string };

/** Clients without a valid key or token together, who may use a sixteenth of the memory. */
export const strangers: BodyHolder = { person: "strangers", key: "strangers" };

/** The holder of a signed-in person's calls of the console's APIs. */
export function consoleOf(userId: string): BodyHolder {
  return { person: userId, key: `console of ${userId}` };
}

/** Bounds the bytes that this process holds for request bodies, with their decoders. */
export class BodyBudget {
  readonly decoders = new DecoderSlots();
  readonly #bytesMax: number;
  readonly #bytesByHolder = new Map<string, number>();
  bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The caller must release the returned body. */
  hold(holder: string | BodyHolder): HeldBody {
    return new HeldBody(this, typeof holder === "string" ? { person: holder, key: holder } : holder);
  }

  /** Throws `service_unavailable` if the bytes do not fit. */
  add({ person, key }: BodyHolder, bytes: number): void {
    const held = (this.#bytesByHolder.get(person) ?? 0) + bytes;
    const ofKey = key === person ? 0 : (this.#bytesByHolder.get(key) ?? 0) + bytes;
    const share = person === strangers.person ? 1 / 16 : 1 / 2;
    const isFull = held > this.#bytesMax * share || ofKey > (this.#bytesMax * 7) / 16;
    if (isFull || this.bytes + bytes > this.#bytesMax) throw bodiesInFlight();
    this.#bytesByHolder.set(person, held);
    if (key !== person) this.#bytesByHolder.set(key, ofKey);
    this.bytes += bytes;
  }

  subtract({ person, key }: BodyHolder, bytes: number): void {
    this.#subtract(person, bytes);
    if (key !== person) this.#subtract(key, bytes);
    this.bytes -= bytes;
  }

  #subtract(holder: string, bytes: number): void {
    const held = (this.#bytesByHolder.get(holder) ?? 0) - bytes;
    // Emptying a Map on every request would keep V8's garbage collector busy.
    if (held > 0 || this.#bytesByHolder.size <= holdersKept) this.#bytesByHolder.set(holder, held);
    else this.#bytesByHolder.delete(holder);
  }
}

export class HeldBody {
  readonly #budget: BodyBudget;
  readonly #holder: BodyHolder;
  #bytes = 0;
  isReleased = false;
  #releaseListener: (() => void) | null = null;

  constructor(budget: BodyBudget, holder: BodyHolder) {
    this.#budget = budget;
    this.#holder = holder;
  }

  /** Throws `service_unavailable` if the bytes do not fit or the request has ended. */
  add(bytes: number): void {
    if (this.isReleased) throw bodiesInFlight();
    this.#budget.add(this.#holder, bytes);
    this.#bytes += bytes;
  }

  subtract(bytes: number): void {
    if (this.isReleased) return;
    this.#bytes -= bytes;
    this.#budget.subtract(this.#holder, bytes);
  }

  /** For memory of the same holder that outlasts this body. The caller must release it. */
  holdMore(): HeldBody {
    return this.#budget.hold(this.#holder);
  }

  /** Throws `service_unavailable` if the request has ended or too many bodies wait. */
  joinDecoders(): DecoderSlot {
    if (this.isReleased) throw bodiesInFlight();
    return this.#budget.decoders.join(this.#holder.person);
  }

  /** Replaces the listener. */
  onRelease(listener: (() => void) | null): void {
    this.#releaseListener = listener;
  }

  /** Can be called more than once. */
  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    if (this.#bytes > 0) this.#budget.subtract(this.#holder, this.#bytes);
    this.#releaseListener?.();
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

/** Bounds the decoders at work in this process and per holder. Holders with waiting bodies take turns. */
export class DecoderSlots {
  readonly #queues = new Map<string, Queue>();
  atWork = 0;

  /** The caller must call `leave`. Throws `service_unavailable` if too many bodies of the holder wait. */
  join(holder: string): DecoderSlot {
    const queue = this.#queues.get(holder) ?? { atWork: 0, waiting: [] };
    if (queue.waiting.length >= waitingBodiesPerHolderMax) throw tooManyWait();
    this.#queues.set(holder, queue);
    const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
    let state: "waiting" | "working" | "left" = "waiting";
    const start = () => {
      state = "working";
      resolve();
    };
    queue.waiting.push(start);
    const leave = () => {
      if (state === "waiting") {
        queue.waiting.splice(queue.waiting.indexOf(start), 1);
        reject(tooManyWait());
      }
      if (state === "working") {
        queue.atWork--;
        this.atWork--;
      }
      state = "left";
      if (queue.atWork + queue.waiting.length === 0) this.#queues.delete(holder);
      this.#startNext();
    };
    this.#startNext();
    return { ready, leave };
  }

  #startNext(): void {
    for (const [holder, queue] of this.#queues) {
      if (this.atWork >= decodersAtWorkMax) return;
      if (queue.atWork >= decodersPerHolderMax) continue;
      const start = queue.waiting.shift();
      if (start === undefined) continue;
      queue.atWork++;
      this.atWork++;
      // The Map's order is the order of turns.
      this.#queues.delete(holder);
      this.#queues.set(holder, queue);
      start();
    }
  }
}

type Queue = { atWork: number; waiting: (() => void)[] };

type DecoderSlot = {
  /** Rejects if `leave` comes first. */
  ready: Promise<void>;
  /** Can be called more than once. */
  leave(): void;
};

const decodersAtWorkMax = 4;
const decodersPerHolderMax = 1;
const waitingBodiesPerHolderMax = 256;

function tooManyWait(): GatewayError {
  return new GatewayError(
    "service_unavailable",
    "Too many compressed bodies wait for decompression. Retry later, or send the body uncompressed.",
    { retryAfterSeconds: 1 },
  );
}

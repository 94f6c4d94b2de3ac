import { GatewayError } from "../errors.ts";

/** Bounds the decoders at work in this process and per holder. Holders with waiting bodies take turns. */
export class DecoderSlots {
  readonly #queues = new Map<string, Queue>();
  #atWork = 0;

  get atWork(): number {
    return this.#atWork;
  }

  /** The caller must call `leave`. Throws `service_unavailable` if too many bodies of the holder wait. */
  join(holder: string): DecoderSlot {
    const queue = this.#queues.get(holder) ?? { atWork: 0, waiting: [] };
    if (queue.waiting.length >= waitingPerHolderMax) throw tooManyWait();
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
        this.#atWork--;
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
      if (this.#atWork >= decodersAtWorkMax) return;
      if (queue.atWork >= decodersPerHolderMax) continue;
      const start = queue.waiting.shift();
      if (start === undefined) continue;
      queue.atWork++;
      this.#atWork++;
      // The Map's order is the order of turns.
      this.#queues.delete(holder);
      this.#queues.set(holder, queue);
      start();
    }
  }
}

type Queue = { atWork: number; waiting: (() => void)[] };

export type DecoderSlot = {
  /** Rejects if `leave` comes first. */
  ready: Promise<void>;
  /** Can be called more than once. */
  leave(): void;
};

const decodersAtWorkMax = 4;
const decodersPerHolderMax = 1;
const waitingPerHolderMax = 256;

function tooManyWait(): GatewayError {
  return new GatewayError(
    "service_unavailable",
    "Too many compressed bodies wait for decompression. Retry later, or send the body uncompressed.",
    { retryAfterSeconds: 1 },
  );
}

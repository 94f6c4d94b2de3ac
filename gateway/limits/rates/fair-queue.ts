import { GatewayError } from "../../errors.ts";

/** A request that is under way, or waits until it may be. */
export type Place = {
  readonly keyId: string;
  readonly start: () => void;
  /** It has waited too long. */
  readonly refuse: (error: GatewayError) => void;
  state: "new" | "waiting" | "running" | "left";
  timer?: NodeJS.Timeout;
};

type FairQueueOptions = {
  /** Requests under way; 0 = as many as come. */
  concurrentRequestsMax: number;
  queuedRequestsPerKeyMax: number;
  queueWaitMsMax: number;
};

/**
 * Keeps a process within its capacity. What is too much waits a little, each key's requests in a queue of their own; the
 * keys take turns, so that one that asks for much waits for itself and not the others for it.
 */
export class FairQueue {
  readonly #options: FairQueueOptions;
  /** By key, whose turn is next first. */
  readonly #waiting = new Map<string, Place[]>();
  #running = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  /** Throws `service_unavailable` when the key has as many requests waiting as it may. */
  check(keyId: string): void {
    const { concurrentRequestsMax, queuedRequestsPerKeyMax } = this.#options;
    if (concurrentRequestsMax === 0 || this.#running < concurrentRequestsMax) return;
    if ((this.#waiting.get(keyId)?.length ?? 0) >= queuedRequestsPerKeyMax) throw overCapacity();
  }

  /** Starts the request, now or when it is its turn. */
  enter(place: Place): void {
    const { concurrentRequestsMax, queueWaitMsMax } = this.#options;
    if (concurrentRequestsMax === 0 || this.#running < concurrentRequestsMax) return this.#start(place);
    place.state = "waiting";
    place.timer = setTimeout(() => place.refuse(overCapacity()), queueWaitMsMax);
    const queue = this.#waiting.get(place.keyId);
    if (queue) queue.push(place);
    else this.#waiting.set(place.keyId, [place]);
  }

  /** The request is over, or does not want to wait any more. */
  leave(place: Place): void {
    const { state } = place;
    place.state = "left";
    clearTimeout(place.timer);
    if (state === "waiting") this.#remove(place);
    if (state !== "running") return;
    this.#running--;
    this.#startNext();
  }

  #start(place: Place): void {
    clearTimeout(place.timer);
    this.#running++;
    place.state = "running";
    place.start();
  }

  #startNext(): void {
    const [next] = this.#waiting;
    if (!next) return;
    const [keyId, queue] = next;
    const place = queue.shift();
    // To the end of the line of keys.
    this.#waiting.delete(keyId);
    if (queue.length > 0) this.#waiting.set(keyId, queue);
    if (place) this.#start(place);
  }

  #remove(place: Place): void {
    const queue = this.#waiting.get(place.keyId) ?? [];
    queue.splice(queue.indexOf(place), 1);
    if (queue.length === 0) this.#waiting.delete(place.keyId);
  }
}

function overCapacity(): GatewayError {
  const message = "The gateway has as many requests under way as it can take. Try again in a moment.";
  return new GatewayError("service_unavailable", message, { retryAfterSeconds: 1 });
}

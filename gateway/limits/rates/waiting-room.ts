import type { GatewayError } from "../../errors.ts";

type WaitingRoomOptions = {
  queuedRequestsPerKeyMax: number;
  queueWaitMsMax: number;
};

/** The limit that has no room for a request while other requests are in flight. */
export type Blocking = {
  /** The requests that wait for the same limit form a line. */
  line: string;
  /** The response to a request that waited without success. */
  refusal: () => GatewayError;
};

export type Waiter = {
  readonly keyId: string;
  /** Enters the room again if there is still no room. With Valkey, returns a promise. */
  readonly retry: () => Promise<void> | null;
  readonly refuse: (error: GatewayError) => void;
  blocking: Blocking | null;
  timer?: NodeJS.Timeout;
};

/**
 * Requests that wait until requests in flight return what they reserved but did not use. A waiting request holds
 * nothing. Within a line nobody overtakes, so that a large request cannot starve.
 */
export class WaitingRoom {
  readonly #options: WaitingRoomOptions;
  readonly #lines = new Map<string, Line>();
  readonly #counts = new Map<string, number>();
  #poll: NodeJS.Timeout | undefined;
  /** Whether no request waits. */
  isEmpty = true;

  constructor(options: WaitingRoomOptions) {
    this.#options = options;
  }

  get size(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Whether a request must queue behind others. The waiter at the head of the line does not. */
  hasAhead(line: string, waiter: Waiter): boolean {
    return waiter.blocking?.line !== line && this.#lines.has(line);
  }

  /** Throws the refusal if too many requests of the key wait. */
  enter(waiter: Waiter, blocking: Blocking): void {
    const { queuedRequestsPerKeyMax, queueWaitMsMax } = this.#options;
    const before = waiter.blocking;
    if (before === null) {
      const count = this.#counts.get(waiter.keyId) ?? 0;
      if (count >= queuedRequestsPerKeyMax) throw blocking.refusal();
      this.#counts.set(waiter.keyId, count + 1);
      waiter.timer = setTimeout(() => waiter.refuse((waiter.blocking ?? blocking).refusal()), queueWaitMsMax);
    }
    waiter.blocking = blocking;
    if (before?.line === blocking.line) return;
    if (before) this.#removeFrom(before.line, waiter);
    let line = this.#lines.get(blocking.line);
    if (!line) this.#lines.set(blocking.line, (line = { turns: new Turns(), isServing: false }));
    line.turns.add(waiter);
    this.isEmpty = false;
    this.#poll ??= setInterval(() => this.#wakeAll(), pollMs).unref();
  }

  /** Has no effect for a request that does not wait. */
  leave(waiter: Waiter): void {
    const { blocking, keyId } = waiter;
    if (blocking === null) return;
    waiter.blocking = null;
    clearTimeout(waiter.timer);
    const count = (this.#counts.get(keyId) ?? 0) - 1;
    if (count > 0) this.#counts.set(keyId, count);
    else this.#counts.delete(keyId);
    this.#removeFrom(blocking.line, waiter);
  }

  /** Admits the waiting requests of a line, in turns, until one of them does not fit. */
  wake(name: string): void {
    const line = this.#lines.get(name);
    if (!line || line.isServing) return;
    line.isServing = true;
    for (let first = line.turns.first(); first; first = line.turns.first()) {
      const served = first;
      const decision = served.retry();
      if (decision) {
        void decision.then(() => {
          line.isServing = false;
          if (line.turns.first() !== served) this.wake(name);
        });
        return;
      }
      if (line.turns.first() === served) break;
    }
    line.isServing = false;
  }

  /** Room also appears as the minute passes, and when other processes' counts arrive. */
  #wakeAll(): void {
    const names = Array.from(this.#lines.keys());
    for (const name of names) this.wake(name);
  }

  #removeFrom(name: string, waiter: Waiter): void {
    const line = this.#lines.get(name);
    if (!line) return;
    if (line.turns.first() === waiter) line.turns.shift();
    else line.turns.remove(waiter);
    if (!line.turns.isEmpty) return;
    this.#lines.delete(name);
    if (this.#lines.size > 0) return;
    this.isEmpty = true;
    clearInterval(this.#poll);
    this.#poll = undefined;
  }
}

type Line = { readonly turns: Turns<Waiter>; isServing: boolean };

const pollMs = 250;

/** Waiting items of several keys. The keys take turns, so that a busy key cannot block the others. */
export class Turns<Item extends { readonly keyId: string }> {
  /** The items by key, in the order of turns. */
  readonly #waiting = new Map<string, Item[]>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  countOf(keyId: string): number {
    return this.#waiting.get(keyId)?.length ?? 0;
  }

  add(item: Item): void {
    const queue = this.#waiting.get(item.keyId);
    if (queue) queue.push(item);
    else this.#waiting.set(item.keyId, [item]);
  }

  first(): Item | null {
    for (const [item] of this.#waiting.values()) return item ?? null;
    return null;
  }

  /** Removes the first item, and moves its key to the end of the order. */
  shift(): Item | null {
    for (const [keyId, queue] of this.#waiting) {
      const item = queue.shift();
      // Deleting and adding the key moves it to the end of the order.
      this.#waiting.delete(keyId);
      if (queue.length > 0) this.#waiting.set(keyId, queue);
      return item ?? null;
    }
    return null;
  }

  remove(item: Item): void {
    const queue = this.#waiting.get(item.keyId) ?? [];
    const index = queue.indexOf(item);
    if (index >= 0) queue.splice(index, 1);
    if (queue.length === 0) this.#waiting.delete(item.keyId);
  }
}

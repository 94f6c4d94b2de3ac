import type { Connection } from "./connection.ts";

/**
 * Idle connections of one pool, by credential. Each rests before reuse, so that a close or a surplus answer is noticed
 * in time.
 */
export class IdleConnections {
  readonly #onRested: () => void;
  /** Idle since the last tick. */
  #resting: Connection[] = [];
  /** Idle for one to two ticks. */
  #restingLonger: Connection[] = [];
  /** Arrays, because a Map that is filled and emptied on every call keeps V8's garbage collector busy. */
  readonly #rested = new Map<string, Connection[]>();
  #ticking: NodeJS.Timeout | undefined;
  #sweeping: NodeJS.Timeout | undefined;

  /** @param onRested called when more connections become available */
  constructor(onRested: () => void) {
    this.#onRested = onRested;
  }

  add(connection: Connection): void {
    this.#resting.push(connection);
    this.#ticking ??= setTimeout(() => this.#tick(), restMs).unref();
    this.#sweeping ??= setTimeout(() => this.#sweep(), sweepIntervalMs).unref();
  }

  /**
   * The most recently used connection, so that surplus ones age out. While many rest, the longest-rested one: rotating
   * hundreds of connections would cost a tenth more CPU.
   */
  acquire(credential: string, now: number): Connection | null {
    const rested = this.#rested.get(credential);
    for (;;) {
      const connection = rested?.pop() ?? this.#acquireResting(credential);
      if (connection === null) return null;
      if (connection.isFresh(now)) return connection;
      connection.retire();
    }
  }

  #acquireResting(credential: string): Connection | null {
    if (this.#restingLonger.length + this.#resting.length <= restingMax) return null;
    for (const list of [this.#restingLonger, this.#resting]) {
      const index = list.findIndex((connection) => connection.credential === credential);
      if (index !== -1) return list.splice(index, 1)[0] ?? null;
    }
    return null;
  }

  /** Closes one connection of another credential. Returns whether there was one. */
  closeOther(credential: string): boolean {
    for (const list of this.#lists()) {
      const other = list.find((connection) => connection.credential !== credential);
      other?.retire();
      if (other) return true;
    }
    return false;
  }

  remove(connection: Connection): void {
    for (const list of [this.#rested.get(connection.credential) ?? [], this.#restingLonger, this.#resting]) {
      const index = list.indexOf(connection);
      if (index !== -1) list.splice(index, 1);
    }
  }

  close(): void {
    clearTimeout(this.#ticking);
    clearTimeout(this.#sweeping);
  }

  *#lists(): Generator<Connection[]> {
    yield* this.#rested.values();
    yield this.#restingLonger;
    yield this.#resting;
  }

  /** Connections become available after the next poll phase, which reads what arrived while they rested. */
  #tick(): void {
    const rested = this.#restingLonger;
    this.#restingLonger = this.#resting;
    this.#resting = [];
    const isResting = this.#restingLonger.length > 0;
    this.#ticking = isResting ? setTimeout(() => this.#tick(), restMs).unref() : undefined;
    for (const connection of rested) {
      const list = this.#rested.get(connection.credential);
      if (list) list.push(connection);
      else this.#rested.set(connection.credential, [connection]);
    }
    if (rested.length > 0) this.#onRested();
  }

  #sweep(): void {
    const now = performance.now();
    for (const [credential, list] of this.#rested) {
      for (const connection of list.slice()) if (!connection.isFresh(now)) connection.retire();
      if (list.length === 0) this.#rested.delete(credential);
    }
    const isNeeded = this.#rested.size > 0 || this.#ticking !== undefined;
    this.#sweeping = isNeeded ? setTimeout(() => this.#sweep(), sweepIntervalMs).unref() : undefined;
  }
}

/** A surplus answer within this time closes the connection. Connections rest for one to two times as long. */
const restMs = 25;
/** Enough for about 1,000 calls a second. */
const restingMax = 32;
const sweepIntervalMs = 1_000;

import { GatewayError } from "../errors.ts";
import { Connection, type ConnectionOwner, type Dialler } from "./connection.ts";
import type { HttpLimits } from "./answer-reader.ts";
import type { CallHolder, NetworkCall } from "./network-call.ts";
import type { UpstreamRequest } from "./upstream-call.ts";

/**
 * The connections to one origin, and a first-in, first-out queue of calls. Each connection serves only one
 * credential.
 */
export class ConnectionPool implements CallHolder, ConnectionOwner {
  readonly #dialler: Dialler;
  readonly #limits: HttpLimits;
  readonly #connections = new Set<Connection>();
  /** An array, because a Map that changes on every call costs a tenth of the CPU time. */
  #waiting: WaitingCall[] = [];
  /** The number of calls in `#waiting` that are over. */
  #dropped = 0;
  readonly #idle = new IdleConnections(() => this.#serveSoon());
  #isServing = false;

  constructor(dialler: Dialler, limits: HttpLimits) {
    this.#dialler = dialler;
    this.#limits = limits;
  }

  /** Throws a `GatewayError` if the queue is full. */
  begin(call: NetworkCall, credential: string, request: UpstreamRequest): void {
    if (this.#waitingCount >= this.#limits.upstreamQueuedCallsMax) throw queueFull();
    call.holder = this;
    this.#waiting.push({ call, credential, request });
    this.#serveSoon();
  }

  pause(): void {}

  resume(): void {}

  drop(): void {
    this.#dropped++;
    this.#serveSoon();
  }

  onFree(connection: Connection): void {
    this.#idle.add(connection);
    if (this.#waitingCount > 0) this.#serveSoon();
  }

  onGone(connection: Connection): void {
    this.#connections.delete(connection);
    this.#idle.remove(connection);
    if (this.#waitingCount > 0) this.#serveSoon();
  }

  get isEmpty(): boolean {
    return this.#connections.size === 0 && this.#waitingCount === 0;
  }

  /** Closes each connection of any other credential after its current call. */
  keepOnly(credentials: ReadonlySet<string>): void {
    for (const connection of this.#connections) {
      if (!credentials.has(connection.credential)) connection.retire();
    }
  }

  close(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#dropped = 0;
    this.#idle.close();
    for (const connection of this.#connections) connection.close(unwanted());
    for (const { call } of waiting) call.onFailure(unwanted());
  }

  get #waitingCount(): number {
    return this.#waiting.length - this.#dropped;
  }

  #tidy(): void {
    this.#waiting = this.#waiting.filter(({ call }) => !call.isOver);
    this.#dropped = 0;
  }

  /** Waits for pending reads, which reveal closed connections and surplus data before reuse. */
  #serveSoon(): void {
    if (this.#isServing) return;
    this.#isServing = true;
    setImmediate(() => this.#serve());
  }

  #serve(): void {
    this.#isServing = false;
    const now = performance.now();
    let done = 0;
    for (const { call, credential, request } of this.#waiting) {
      if (call.isOver) this.#dropped--;
      else {
        const connection = this.#idle.acquire(credential, now) ?? this.#open(credential);
        if (connection === null) break;
        connection.send(call, request);
      }
      done++;
    }
    this.#waiting.splice(0, done);
    if (this.#dropped > this.#waitingCount) this.#tidy();
  }

  /** Null if the pool is full and has no idle connection of another credential to close. */
  #open(credential: string): Connection | null {
    const isFull = this.#connections.size >= this.#limits.upstreamConnectionsMax;
    if (isFull && !this.#idle.closeOther(credential)) return null;
    const connection = new Connection({
      dialler: this.#dialler,
      owner: this,
      limits: this.#limits,
      credential,
    });
    this.#connections.add(connection);
    return connection;
  }
}

/**
 * The idle connections of one pool, by credential. They usually rest before reuse, so that a close or a surplus
 * answer is detected in time.
 */
class IdleConnections {
  readonly #onRested: () => void;
  /** Connections that became idle since the last tick. */
  #resting: Connection[] = [];
  /** Connections that became idle between the last two ticks. */
  #restingLonger: Connection[] = [];
  /** By credential. Sets that change on every call would keep the garbage collector busy. */
  readonly #rested = new Map<string, Connection[]>();
  #ticking: NodeJS.Timeout | undefined;
  #sweeping: NodeJS.Timeout | undefined;

  /** @param onRested runs when more connections become available */
  constructor(onRested: () => void) {
    this.#onRested = onRested;
  }

  add(connection: Connection): void {
    this.#resting.push(connection);
    this.#ticking ??= setTimeout(() => this.#tick(), restMs).unref();
    this.#sweeping ??= setTimeout(() => this.#sweep(), sweepIntervalMs).unref();
  }

  /**
   * Returns the most recently used rested connection, so that surplus connections expire. Falls back to a
   * resting connection only above `restingMax`.
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

  /** Closes one connection of another credential. Returns whether one was closed. */
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

  /** Connections become available after the next poll phase, which reads data that arrived while they rested. */
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
/** Above this number, resting connections are reused early. About 1,000 calls a second reach it. */
const restingMax = 32;
const sweepIntervalMs = 1_000;

type WaitingCall = { call: NetworkCall; credential: string; request: UpstreamRequest };

function queueFull(): GatewayError {
  return new GatewayError(
    "service_unavailable",
    "Too many requests are waiting for a connection to the provider. Retry later.",
  );
}

function unwanted(): Error {
  return new Error("The connection is no longer needed.");
}

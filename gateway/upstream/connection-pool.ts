import { GatewayError } from "../errors.ts";
import { Connection, type ConnectionOwner } from "./connection.ts";
import type { Dialler } from "./dialler.ts";
import type { HttpLimits } from "./http-limits.ts";
import type { CallHolder, NetworkCall } from "./network-call.ts";
import type { UpstreamRequest } from "./request-head.ts";

/** The connections to one origin, and the calls that wait for one: first come, first served. */
export class ConnectionPool implements CallHolder, ConnectionOwner {
  readonly #dialler: Dialler;
  readonly #limits: HttpLimits;
  readonly #connections = new Set<Connection>();
  /**
   * In an array, because a Map that is filled and emptied with every call leaves one old table after the other, each of
   * which holds the next and its calls until V8's next full collection: that cost a tenth of all CPU time.
   */
  #waiting: WaitingCall[] = [];
  /** How many of them are over, and only not taken out yet. */
  #dropped = 0;
  /** The last one was used last, so that those which are not needed grow old. */
  readonly #idle: Connection[] = [];
  /** Became free in this turn of the event loop. */
  readonly #resting: Connection[] = [];
  #isServing = false;
  #isRetired = false;
  #sweeping: NodeJS.Timeout | undefined;

  constructor(dialler: Dialler, limits: HttpLimits) {
    this.#dialler = dialler;
    this.#limits = limits;
  }

  /** Throws a `GatewayError` where too many wait already. */
  begin(call: NetworkCall, request: UpstreamRequest): void {
    if (this.#waitingCount >= this.#limits.upstreamQueuedCallsMax) throw queueFull();
    call.holder = this;
    this.#waiting.push({ call, request });
    this.#serveSoon();
  }

  pause(): void {}

  resume(): void {}

  drop(): void {
    this.#dropped++;
    this.#serveSoon();
  }

  onFree(connection: Connection): void {
    if (this.#isRetired) return connection.close(unwanted());
    this.#resting.push(connection);
    this.#sweepLater();
    this.#serveSoon();
  }

  onGone(connection: Connection): void {
    this.#connections.delete(connection);
    for (const list of [this.#idle, this.#resting]) {
      const index = list.indexOf(connection);
      if (index !== -1) list.splice(index, 1);
    }
    if (this.#waitingCount > 0) this.#serveSoon();
  }

  /** Whether it holds neither a connection nor a call. */
  get isEmpty(): boolean {
    return this.#connections.size === 0 && this.#waitingCount === 0;
  }

  /** Lets go of the connections, once the calls under way have ended. */
  retire(): void {
    this.#isRetired = true;
    clearTimeout(this.#sweeping);
    for (const connection of [...this.#idle, ...this.#resting]) connection.close(unwanted());
  }

  /** Ends every connection, and with it every call. */
  close(): void {
    this.retire();
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#dropped = 0;
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

  /**
   * At the end of this turn of the event loop, when everything has been read that has arrived by now. So an upstream that
   * has closed an idle connection, or has sent what nobody asked for, is found out before the connection is used again.
   */
  #serveSoon(): void {
    if (this.#isServing) return;
    this.#isServing = true;
    setImmediate(() => this.#serve());
  }

  #serve(): void {
    this.#isServing = false;
    const now = performance.now();
    let done = 0;
    for (const { call, request } of this.#waiting) {
      if (call.isOver) this.#dropped--;
      else {
        const connection = this.#takeIdle(now) ?? this.#open(this.#waitingCount - done);
        if (connection === null) break;
        connection.send(call, request);
      }
      done++;
    }
    this.#waiting.splice(0, done);
    if (this.#dropped > this.#waitingCount) this.#tidy();
    // An upstream that closes the connection after an answer has time to do so.
    this.#idle.push(...this.#resting.splice(0));
    if (this.#waitingCount > 0 && this.#idle.length > 0) this.#serveSoon();
  }

  #takeIdle(now: number): Connection | null {
    for (;;) {
      const connection = this.#idle.pop();
      if (connection === undefined) return null;
      if (connection.isFresh(now)) return connection;
      connection.close(unwanted());
    }
  }

  /** Null where there are enough, or some are free in a moment. */
  #open(waiting: number): Connection | null {
    const isFull = this.#connections.size >= this.#limits.upstreamConnectionsMax;
    if (isFull || this.#resting.length >= waiting) return null;
    const connection = new Connection(this.#dialler, this, this.#limits);
    this.#connections.add(connection);
    return connection;
  }

  #sweep(): void {
    this.#sweeping = undefined;
    const now = performance.now();
    for (const connection of this.#idle.slice()) {
      if (!connection.isFresh(now)) connection.close(unwanted());
    }
    if (this.#idle.length > 0) this.#sweepLater();
  }

  #sweepLater(): void {
    this.#sweeping ??= setTimeout(() => this.#sweep(), sweepIntervalMs).unref();
  }
}

type WaitingCall = { call: NetworkCall; request: UpstreamRequest };

function queueFull(): GatewayError {
  return new GatewayError(
    "service_unavailable",
    "Too many requests wait for a connection to the model's provider. Try again later.",
  );
}

function unwanted(): Error {
  return new Error("The connection is not wanted any more.");
}

const sweepIntervalMs = 1_000;

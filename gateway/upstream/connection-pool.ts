import { GatewayError } from "../errors.ts";
import { Connection, type ConnectionOwner, type UpstreamRequest } from "./connection.ts";
import type { Dialler } from "./dialler.ts";
import type { HttpLimits } from "./http-limits.ts";
import { IdleConnections } from "./idle-connections.ts";
import type { CallHolder, NetworkCall } from "./network-call.ts";

/**
 * The connections to one origin and the calls waiting for one, first in, first out. A connection serves one credential
 * only.
 */
export class ConnectionPool implements CallHolder, ConnectionOwner {
  readonly #dialler: Dialler;
  readonly #limits: HttpLimits;
  readonly #connections = new Set<Connection>();
  /**
   * An array: a Map that is filled and emptied on every call retains old tables until V8's next full collection. That
   * cost a tenth of all CPU time.
   */
  #waiting: WaitingCall[] = [];
  /** Calls that are over but still in the array. */
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

  /** Closes the connections of every other credential after their calls. */
  keepOnly(credentials: ReadonlySet<string>): void {
    for (const connection of this.#connections) {
      if (!credentials.has(connection.credential)) connection.retire();
    }
  }

  /** Ends every connection and its call. */
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

  /**
   * Runs at the end of this event-loop turn, after pending reads. This detects closed connections and surplus data
   * before reuse.
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

  /** Null if the pool is at its maximum. */
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

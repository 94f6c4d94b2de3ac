import { GatewayError } from "../errors.ts";
import { Connection, type ConnectionOwner, type UpstreamRequest } from "./connection.ts";
import type { Dialler } from "./dialler.ts";
import type { HttpLimits } from "./http-limits.ts";
import { IdleConnections } from "./idle-connections.ts";
import type { CallHolder, NetworkCall } from "./network-call.ts";

/**
 * The connections to one origin, and the calls that wait for one: first come, first served. A connection carries the calls
 * of one credential only.
 */
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
  readonly #idle = new IdleConnections(() => this.#serveSoon());
  #isServing = false;

  constructor(dialler: Dialler, limits: HttpLimits) {
    this.#dialler = dialler;
    this.#limits = limits;
  }

  /** Throws a `GatewayError` where too many wait already. */
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

  /** Whether it holds neither a connection nor a call. */
  get isEmpty(): boolean {
    return this.#connections.size === 0 && this.#waitingCount === 0;
  }

  /** Closes the connections of every other credential, once their calls have ended. */
  keepOnly(credentials: ReadonlySet<string>): void {
    for (const connection of this.#connections) {
      if (!credentials.has(connection.credential)) connection.retire();
    }
  }

  /** Ends every connection, and with it every call. */
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
    for (const { call, credential, request } of this.#waiting) {
      if (call.isOver) this.#dropped--;
      else {
        const connection = this.#idle.take(credential, now) ?? this.#open(credential);
        if (connection === null) break;
        connection.send(call, request);
      }
      done++;
    }
    this.#waiting.splice(0, done);
    if (this.#dropped > this.#waitingCount) this.#tidy();
  }

  /** Null where there are enough. */
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
    "Too many requests wait for a connection to the model's provider. Try again later.",
  );
}

function unwanted(): Error {
  return new Error("The connection is not wanted any more.");
}

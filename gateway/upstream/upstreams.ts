import { hash } from "node:crypto";
import { GatewayError } from "../errors.ts";
import type { Endpoint, UpstreamRequest as SignedRequest } from "../providers/provider.ts";
import type { AddressGuard } from "./address-guard.ts";
import { type HttpLimits, isToken } from "./answer-reader.ts";
import { LocalCall } from "./local-call.ts";
import { NetworkCall, type CallHolder, Dialler, Connection, type ConnectionOwner } from "./connection.ts";
import { withCode } from "./upstream-failure.ts";
import type { UpstreamCall, UpstreamEvents, UpstreamRequest, UpstreamTimeouts } from "./upstream-call.ts";

type UpstreamsOptions = {
  guard: AddressGuard;
  limits: HttpLimits;
  /** Milliseconds since 1970. */
  now: () => number;
};

/** Has a connection pool for each origin and connect timeout. Never follows redirects or sends a request twice. */
export class Upstreams {
  readonly #options: UpstreamsOptions;
  /** By connect timeout and origin, which is faster than a joined name. */
  readonly #pools = new Map<number, Map<string, ConnectionPool>>();
  readonly #sharedHeads = new WeakMap<Endpoint, SharedHead>();
  #isClosed = false;

  constructor(options: UpstreamsOptions) {
    this.#options = options;
  }

  /** Sends a POST request, or a GET request if the body is null. */
  call(
    endpoint: Endpoint,
    body: readonly Buffer[] | null,
    timeouts: UpstreamTimeouts,
    events: UpstreamEvents,
  ): UpstreamCall {
    if (endpoint.answer) {
      const answer = endpoint.answer(this.#wholeRequest(body));
      return new LocalCall(answer, timeouts, events);
    }
    const call = new NetworkCall(events, timeouts);
    if (endpoint.sign) void this.#callSigned(endpoint, endpoint.sign, body, timeouts, call);
    else this.#send(endpoint, [], body, timeouts, call);
    return call;
  }

  async #callSigned(
    endpoint: Endpoint,
    sign: NonNullable<Endpoint["sign"]>,
    body: readonly Buffer[] | null,
    timeouts: UpstreamTimeouts,
    call: NetworkCall,
  ): Promise<void> {
    try {
      const signature = await sign(this.#wholeRequest(body));
      this.#send(endpoint, signature, body, timeouts, call);
    } catch (cause) {
      const message =
        "The request to the provider could not be signed. Ask an administrator to check the provider's credential.";
      call.fail(new GatewayError("internal_error", message, { cause }));
    }
  }

  #send(
    endpoint: Endpoint,
    signature: string[],
    body: readonly Buffer[] | null,
    timeouts: UpstreamTimeouts,
    call: NetworkCall,
  ): void {
    if (call.isOver) return;
    try {
      if (this.#isClosed) throw new Error("The gateway is shutting down. Retry the request.");
      const { head, credential } = this.#sharedHeadOf(endpoint);
      const request = formatRequest(head, signature, body);
      this.#poolOf(endpoint.origin, timeouts.connectTimeoutMs).begin(call, credential, request);
    } catch (cause) {
      // A microtask defers the event, because the caller needs the call object first.
      queueMicrotask(() => call.onFailure(cause as Error));
    }
  }

  #wholeRequest(body: readonly Buffer[] | null): SignedRequest {
    const date = new Date(this.#options.now());
    return body === null
      ? { method: "GET", body, date }
      : { method: "POST", body: Buffer.concat(body), date };
  }

  /** Closes connections that match no endpoint's origin and credential, after their current calls. */
  keepOnly(endpoints: Iterable<Endpoint>): void {
    const credentials = new Map<string, Set<string>>();
    for (const { origin, secret } of endpoints) {
      const kept = credentials.get(origin) ?? new Set();
      credentials.set(origin, kept.add(identify(secret)));
    }
    for (const pools of this.#pools.values()) {
      for (const [origin, pool] of pools) {
        const kept = credentials.get(origin);
        pool.keepOnly(kept ?? new Set());
        if (!kept && pool.isEmpty) pools.delete(origin);
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const pools of this.#pools.values()) for (const pool of pools.values()) pool.close();
    this.#pools.clear();
  }

  #sharedHeadOf(endpoint: Endpoint): SharedHead {
    const existing = this.#sharedHeads.get(endpoint);
    if (existing) return existing;
    const shared = { head: formatSharedHead(endpoint), credential: identify(endpoint.secret) };
    this.#sharedHeads.set(endpoint, shared);
    return shared;
  }

  #poolOf(origin: string, connectTimeoutMs: number): ConnectionPool {
    let pools = this.#pools.get(connectTimeoutMs);
    if (!pools) this.#pools.set(connectTimeoutMs, (pools = new Map()));
    const existing = pools.get(origin);
    if (existing) return existing;
    const { guard, limits } = this.#options;
    const pool = new ConnectionPool(new Dialler({ origin, guard, connectTimeoutMs }), limits);
    pools.set(origin, pool);
    return pool;
  }
}

type SharedHead = {
  head: string;
  /** Calls with different credentials never share a connection. */
  credential: string;
};

/** Returns a hash, so that a connection's `credential` does not reveal the secret. */
function identify(secret: string | null): string {
  return secret === null ? "" : hash("sha256", secret);
}

/** The part of a request head that is constant for the endpoint. Throws for an invalid path or header. */
function formatSharedHead({ origin, path, headers }: Endpoint): string {
  if (!/^\/[\x21-\x7e]*$/.test(path)) throw unsendable("The path");
  return ` ${path} HTTP/1.1\r\nhost: ${new URL(origin).host}\r\nconnection: keep-alive\r\n${formatFields(headers)}`;
}

/** @param moreHeaders alternating names and values */
function formatRequest(
  sharedHead: string,
  moreHeaders: string[],
  body: readonly Buffer[] | null,
): UpstreamRequest {
  const fields = moreHeaders.length === 0 ? "" : formatFields(moreHeaders);
  if (body === null) return { head: `GET${sharedHead}${fields}\r\n`, body, bodyLength: 0 };
  let bodyLength = 0;
  for (const part of body) bodyLength += part.length;
  return { head: `POST${sharedHead}${fields}content-length: ${bodyLength}\r\n\r\n`, body, bodyLength };
}

function formatFields(headers: string[]): string {
  let fields = "";
  for (let index = 0; index < headers.length; index += 2) {
    const [name = "", value = ""] = headers.slice(index, index + 2);
    if (!isToken(name) || ours.test(name)) throw unsendable("A header name");
    // The error omits the value, which may be a secret.
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) throw unsendable(`The header ${name}`);
    fields += `${name}: ${value}\r\n`;
  }
  return fields;
}

/** A provider's headers must not override the target, the connection or the framing. */
const ours = /^(?:host|connection|content-length|transfer-encoding)$/i;

function unsendable(what: string): Error {
  return withCode("EBADREQUEST", `${what} contains invalid characters.`);
}

/** The connections to one origin, and a queue of calls. Each connection serves only one credential. */
class ConnectionPool implements CallHolder, ConnectionOwner {
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
    if (this.#dropped <= this.#waitingCount) return;
    this.#waiting = this.#waiting.filter(({ call }) => !call.isOver);
    this.#dropped = 0;
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

/** A pool's idle connections. They usually rest before reuse, so that a close or a surplus answer shows. */
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

  /** The rested connection used last, so that surplus ones expire, or above `restingMax` a resting one. */
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
    for (const list of [...this.#rested.values(), this.#restingLonger, this.#resting]) {
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
export const restMs = 25;
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

/** @param header the value of `content-type` */
export function isMediaType(header: string | string[] | undefined, type: string): boolean {
  return String(header).split(";", 1)[0]?.trim().toLowerCase() === type;
}

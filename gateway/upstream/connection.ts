import { connect, isIP, type OnReadOpts, Socket, type TcpNetConnectOpts } from "node:net";
import { connect as connectSecure } from "node:tls";
import { type AddressGuard, portOf, privateAddressError } from "./address-guard.ts";
import { AnswerReader, type HttpLimits } from "./answer-reader.ts";
import type {
  UpstreamRequest,
  UpstreamCall,
  UpstreamEvents,
  UpstreamHeaders,
  UpstreamTimeouts,
} from "./upstream-call.ts";
import { brokenOff, withCode, toUpstreamFailure } from "./upstream-failure.ts";
import { type FailureReason, GatewayError } from "../errors.ts";

export type ConnectionOwner = {
  /** Runs when the answer is complete and the connection can be reused. */
  onFree(connection: Connection): void;
  /** Runs once, when the connection closes. */
  onGone(connection: Connection): void;
};

type ConnectionOptions = {
  dialler: Dialler;
  owner: ConnectionOwner;
  limits: HttpLimits;
  credential: string;
};

/** Serves one call at a time. */
export class Connection implements CallHolder {
  /** Identifies the credential without revealing it. */
  readonly credential: string;
  readonly #owner: ConnectionOwner;
  readonly #limits: HttpLimits;
  readonly #socket: Socket;
  #isOpen = false;
  #isGone = false;
  #isPaused = false;
  #isRetired = false;
  #idleUntil = 0;
  #call: NetworkCall | null = null;
  #answer: AnswerReader | null = null;
  /** The request to send when the connection opens. */
  #request: UpstreamRequest | null = null;

  constructor({ dialler, owner, limits, credential }: ConnectionOptions) {
    this.credential = credential;
    this.#owner = owner;
    this.#limits = limits;
    this.#socket = dialler
      .dial(
        () => this.#open(),
        (bytes) => {
          this.#receive(bytes);
          // Node starts reading when the socket opens, even if it was paused before.
          return !this.#isPaused;
        },
      )
      .on("end", () => this.#end())
      .on("error", (error) => this.close(error))
      .on("close", () => this.close(brokenOff()));
  }

  /** Whether the idle time is within the limit. */
  isFresh(now: number): boolean {
    return now < this.#idleUntil;
  }

  send(call: NetworkCall, request: UpstreamRequest): void {
    this.#call = call;
    this.#answer = new AnswerReader(this.#limits);
    call.holder = this;
    if (this.#isOpen) this.#write(call, request);
    else this.#request = request;
  }

  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#socket.resume();
  }

  drop(): void {
    this.#call = null;
    this.close(brokenOff());
  }

  /** Closes the connection after its current call. */
  retire(): void {
    this.#isRetired = true;
    if (this.#call === null) this.close(brokenOff());
  }

  /** @param reason reported to the current call, if any */
  close(reason: Error): void {
    if (this.#isGone) return;
    this.#isGone = true;
    const call = this.#call;
    this.#call = null;
    this.#request = null;
    this.#socket.destroy();
    this.#owner.onGone(this);
    call?.onFailure(reason);
  }

  #open(): void {
    this.#isOpen = true;
    if (this.#call && this.#request) this.#write(this.#call, this.#request);
    this.#request = null;
  }

  #write(call: NetworkCall, { head, body, bodyLength }: UpstreamRequest): void {
    call.onSent();
    if (call.isPaused) this.pause();
    if (body !== null && bodyLength <= joinedBytesMax) {
      const bytes = Buffer.allocUnsafe(head.length + bodyLength);
      let at = bytes.write(head, "latin1");
      for (const part of body) at += part.copy(bytes, at);
      return void this.#socket.write(bytes);
    }
    // Corking joins the writes without a copy of the body.
    this.#socket.cork();
    this.#socket.write(head, "latin1");
    for (const part of body ?? []) if (part.length > 0) this.#socket.write(part);
    this.#socket.uncork();
  }

  #receive(bytes: Buffer): void {
    const call = this.#call;
    const answer = this.#answer;
    // Surplus data would be mistaken for the answer to the next request.
    if (call === null || answer === null || !this.#isOpen) return this.close(brokenOff());
    const body = answer.push(bytes);
    const head = answer.takeHead();
    if (head) call.onHeaders(head.status, head.headers);
    if (body.length > 0) call.onData(body);
    this.#settle(call, answer);
  }

  #end(): void {
    const call = this.#call;
    const answer = this.#answer;
    if (call === null || answer === null) return this.close(brokenOff());
    answer.end();
    this.#settle(call, answer);
  }

  #settle(call: NetworkCall, { problem, isComplete, keepAliveMs }: AnswerReader): void {
    // An event handler may have aborted the call.
    if (this.#call !== call) return;
    if (problem) return this.close(problem);
    if (!isComplete) return;
    this.#call = null;
    // An upstream that answers early may not read the rest of the request.
    const isLast = keepAliveMs === 0 || this.#socket.writableLength > 0 || this.#isRetired;
    if (isLast) this.close(brokenOff());
    else this.#release(keepAliveMs);
    call.onEnd();
  }

  #release(keepAliveMs: number): void {
    // The gateway keeps reading idle connections, so that it detects their end.
    if (this.#isPaused) this.resume();
    this.#idleUntil = performance.now() + keepAliveMs;
    this.#owner.onFree(this);
  }
}

/** Up to this size, copying the body costs less than two writes. */
const joinedBytesMax = 8 * 1024;

type DiallerOptions = {
  origin: string;
  guard: AddressGuard;
  /** The timeout of DNS, TCP and TLS together. */
  connectTimeoutMs: number;
};

/** Opens connections to one origin, such as `https://api.openai.com`. */
export class Dialler {
  readonly #target: TcpNetConnectOpts;
  readonly #isSecure: boolean;
  readonly #isRefused: boolean;
  readonly #connectTimeoutMs: number;
  /** The read buffer of all connections of this dialler. Each read is processed before the next one. */
  readonly #readBuffer = Buffer.allocUnsafeSlow(64 * 1024);
  /** The TLS session, which shortens the next handshake. */
  #session: Buffer | undefined;

  constructor({ origin, guard, connectTimeoutMs }: DiallerOptions) {
    const url = new URL(origin);
    const port = portOf(url);
    const mayBePrivate = guard.allowsPrivate(url.hostname, port);
    // IPv6 addresses have brackets in URLs only.
    this.#target = { host: url.hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
    if (!mayBePrivate) this.#target.lookup = guard.lookupPublic;
    this.#isSecure = url.protocol === "https:";
    // Node calls `lookup` for names only.
    this.#isRefused = !mayBePrivate && guard.refusesLiteral(url.hostname);
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  /**
   * @param onOpen runs when requests can be written
   * @param onBytes receives a buffer that is reused, and returns whether to continue reading
   */
  dial(onOpen: () => void, onBytes: (bytes: Buffer) => boolean): Socket {
    const onread = {
      buffer: this.#readBuffer,
      callback: (length: number) => onBytes(this.#readBuffer.subarray(0, length)),
    };
    const socket = this.#connect(onread);
    const timer = setTimeout(() => socket.destroy(timedOut()), this.#connectTimeoutMs);
    // Mock sockets, such as nock's, ignore `onread`.
    socket.on("data", onBytes).setNoDelay(true).setKeepAlive(true, 60_000);
    socket.once("close", () => clearTimeout(timer));
    return socket.once(this.#isSecure ? "secureConnect" : "connect", () => {
      clearTimeout(timer);
      // The timers of calls keep the process alive. Idle connections must not.
      socket.unref();
      onOpen();
    });
  }

  #connect(onread: OnReadOpts): Socket {
    if (this.#isRefused) return new Socket().destroy(privateAddressError());
    try {
      return this.#isSecure ? this.#connectSecure(onread) : connect({ ...this.#target, onread });
    } catch (error) {
      // An invalid TLS setting is reported as a failed call, because it must not stop the process.
      return new Socket().destroy(error as Error);
    }
  }

  #connectSecure(onread: OnReadOpts): Socket {
    const { host = "" } = this.#target;
    // SNI allows names only.
    const servername = isIP(host) === 0 ? host : "";
    const options = {
      ...this.#target,
      onread,
      servername,
      ALPNProtocols: ["http/1.1"],
      session: this.#session,
    };
    return connectSecure(options).on("session", (session) => (this.#session = session));
  }
}

const timedOut = () => withCode("ETIMEDOUT", "The connection timed out.");

/** The pool while the call waits, then its connection. */
export type CallHolder = {
  pause(): void;
  resume(): void;
  /** Releases a call that is over. */
  drop(call: NetworkCall): void;
};

/** One timer covers all timeouts but the connect timeout. It compares times, so chunks do not reset it. */
export class NetworkCall implements UpstreamCall {
  /** Null before and after the call. */
  holder: CallHolder | null = null;
  readonly #events: UpstreamEvents;
  readonly #timeouts: UpstreamTimeouts;
  readonly #startedAt = performance.now();
  #lastActivityAt = this.#startedAt;
  #timer: NodeJS.Timeout;
  wasSent = false;
  isPaused = false;
  isOver = false;
  #hasHeaders = false;

  constructor(events: UpstreamEvents, timeouts: UpstreamTimeouts) {
    this.#events = events;
    this.#timeouts = timeouts;
    const { firstByteTimeoutMs, idleTimeoutMs, totalTimeoutMs } = timeouts;
    const firstCheckMs = Math.min(firstByteTimeoutMs, idleTimeoutMs, totalTimeoutMs);
    this.#timer = setTimeout(() => this.#checkTimeouts(), firstCheckMs);
  }

  pause(): void {
    this.isPaused = true;
    this.holder?.pause();
  }

  resume(): void {
    this.isPaused = false;
    this.#lastActivityAt = performance.now();
    this.holder?.resume();
  }

  /** Ends a call that was not sent. */
  fail(error: GatewayError): void {
    if (this.isOver) return;
    this.#finish();
    this.#events.onError(error, false);
  }

  abort(): void {
    if (this.isOver) return;
    const { holder } = this;
    this.#finish();
    holder?.drop(this);
  }

  /** Runs before the first byte is written. */
  onSent(): void {
    this.wasSent = true;
  }

  onHeaders(status: number, headers: UpstreamHeaders): void {
    this.#hasHeaders = true;
    this.#lastActivityAt = performance.now();
    this.#events.onHeaders(status, headers);
  }

  onData(bytes: Buffer): void {
    if (this.isOver) return;
    this.#lastActivityAt = performance.now();
    this.#events.onData(bytes);
  }

  onEnd(): void {
    if (this.isOver) return;
    this.#finish();
    this.#events.onEnd();
  }

  onFailure(cause: Error): void {
    if (this.isOver) return;
    this.#finish();
    this.#events.onError(toUpstreamFailure(cause), this.wasSent);
  }

  #finish(): void {
    this.isOver = true;
    this.holder = null;
    clearTimeout(this.#timer);
  }

  #checkTimeouts(): void {
    const now = performance.now();
    const { firstByteTimeoutMs, idleTimeoutMs, totalTimeoutMs } = this.#timeouts;
    const leftInTotalMs = this.#startedAt + totalTimeoutMs - now;
    const leftInStepMs = this.#hasHeaders
      ? // While the client reads slowly, the upstream does not count as idle.
        (this.isPaused ? now : this.#lastActivityAt) + idleTimeoutMs - now
      : this.#startedAt + firstByteTimeoutMs - now;
    const leftMs = Math.min(leftInTotalMs, leftInStepMs);
    if (leftMs > 0) {
      this.#timer = setTimeout(() => this.#checkTimeouts(), Math.ceil(leftMs));
      return;
    }
    this.abort();
    const error =
      leftInTotalMs <= 0
        ? tooSlow("total_timeout", `finish within ${totalTimeoutMs} ms`)
        : this.#hasHeaders
          ? tooSlow("idle_timeout", `send the next chunk within ${idleTimeoutMs} ms`)
          : tooSlow("first_byte_timeout", `respond within ${firstByteTimeoutMs} ms`);
    this.#events.onError(error, this.wasSent);
  }
}

/** @param what completes the sentence "The provider did not" */
function tooSlow(reason: FailureReason, what: string): GatewayError {
  return new GatewayError(
    "upstream_timeout",
    `The provider did not ${what}. Retry the request, or raise the provider's timeouts.`,
    { reason },
  );
}

import type { Socket } from "node:net";
import { AnswerReader } from "./answer-reader.ts";
import type { Dialler } from "./dialler.ts";
import type { HttpLimits } from "./http-limits.ts";
import type { CallHolder, NetworkCall } from "./network-call.ts";
import type { UpstreamRequest } from "./request-head.ts";
import { brokenOff } from "./upstream-failure.ts";

/** Who hands out connections. */
export type ConnectionOwner = {
  /** The answer is complete, and the connection may be used again. */
  onFree(connection: Connection): void;
  /** It has been closed, whatever it was doing. Told once. */
  onGone(connection: Connection): void;
};

type ConnectionOptions = {
  dialler: Dialler;
  owner: ConnectionOwner;
  limits: HttpLimits;
  credential: string;
};

/** One connection to an upstream, for one call after the other. */
export class Connection implements CallHolder {
  /** Identifies the credential of its calls without being one. */
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
  /** What is sent as soon as the connection is open. */
  #request: UpstreamRequest | null = null;

  constructor({ dialler, owner, limits, credential }: ConnectionOptions) {
    this.credential = credential;
    this.#owner = owner;
    this.#limits = limits;
    this.#socket = dialler
      .dial(
        () => this.#open(),
        (bytes) => {
          this.#take(bytes);
          // Node begins to read after the socket is open, even if it was paused by then.
          return !this.#isPaused;
        },
      )
      .on("end", () => this.#end())
      .on("error", (error) => this.close(error))
      .on("close", () => this.close(brokenOff()));
  }

  /** Whether it has not been idle for too long. */
  isFresh(now: number): boolean {
    return now < this.#idleUntil;
  }

  /** Only while it has no other call. */
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

  /** Closes it as soon as it has no call. */
  retire(): void {
    this.#isRetired = true;
    if (this.#call === null) this.close(brokenOff());
  }

  /** @param reason what its call is told, if it has one */
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

  #write(call: NetworkCall, { head, body }: UpstreamRequest): void {
    call.onSent();
    if (call.isPaused) this.pause();
    if (body === null || body.length > joinedBytesMax) return this.#writePieces(head, body);
    const bytes = Buffer.allocUnsafe(head.length + body.length);
    bytes.write(head, "latin1");
    body.copy(bytes, head.length);
    this.#socket.write(bytes);
  }

  /** In one system call, and without a copy of the body. */
  #writePieces(head: string, body: Buffer | null): void {
    this.#socket.cork();
    this.#socket.write(head, "latin1");
    if (body !== null) this.#socket.write(body);
    this.#socket.uncork();
  }

  #take(bytes: Buffer): void {
    const call = this.#call;
    // Nobody has asked for anything: it would be taken for the answer to the next request.
    const answer = this.#answer;
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
    // It may have been aborted by what it was told.
    if (this.#call !== call) return;
    if (problem) return this.close(problem);
    if (!isComplete) return;
    this.#call = null;
    // An upstream that answers before it has been asked to the end does not read the rest.
    const isLast = keepAliveMs === 0 || this.#socket.writableLength > 0 || this.#isRetired;
    if (isLast) this.close(brokenOff());
    else this.#release(keepAliveMs);
    call.onEnd();
  }

  #release(keepAliveMs: number): void {
    // An idle connection is read from, so that its end is noticed.
    if (this.#isPaused) this.resume();
    this.#idleUntil = performance.now() + keepAliveMs;
    this.#owner.onFree(this);
  }
}

/** Up to here a copy of the body costs less than writing two pieces. */
const joinedBytesMax = 8 * 1024;

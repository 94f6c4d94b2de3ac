import type { Socket } from "node:net";
import { AnswerReader } from "./answer-reader.ts";
import type { Dialler } from "./dialler.ts";
import type { HttpLimits } from "./http-limits.ts";
import type { CallHolder, NetworkCall } from "./network-call.ts";
import { brokenOff, withCode } from "./upstream-failure.ts";
import type { Endpoint } from "../providers/provider.ts";
import { isToken } from "./answer-head.ts";

export type ConnectionOwner = {
  /** The answer is complete and the connection can be reused. */
  onFree(connection: Connection): void;
  /** The connection has closed. Called once. */
  onGone(connection: Connection): void;
};

type ConnectionOptions = {
  dialler: Dialler;
  owner: ConnectionOwner;
  limits: HttpLimits;
  credential: string;
};

/** One connection to an upstream. It serves one call at a time. */
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
  /** Sent when the connection opens. */
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

  /** Whether its idle time is within the limit. */
  isFresh(now: number): boolean {
    return now < this.#idleUntil;
  }

  /** Must not be called during another call. */
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

  /** @param reason reported to its call, if it has one */
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

  /** One system call, without a copy of the body. */
  #writePieces(head: string, body: Buffer | null): void {
    this.#socket.cork();
    this.#socket.write(head, "latin1");
    if (body !== null) this.#socket.write(body);
    this.#socket.uncork();
  }

  #receive(bytes: Buffer): void {
    const call = this.#call;
    // Surplus data would be taken for the answer to the next request.
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
    // An event handler may have aborted the call.
    if (this.#call !== call) return;
    if (problem) return this.close(problem);
    if (!isComplete) return;
    this.#call = null;
    // An upstream that answers early does not read the rest of the request.
    const isLast = keepAliveMs === 0 || this.#socket.writableLength > 0 || this.#isRetired;
    if (isLast) this.close(brokenOff());
    else this.#release(keepAliveMs);
    call.onEnd();
  }

  #release(keepAliveMs: number): void {
    // Idle connections are read, so that their end is noticed.
    if (this.#isPaused) this.resume();
    this.#idleUntil = performance.now() + keepAliveMs;
    this.#owner.onFree(this);
  }
}

/** Below this size, copying the body costs less than two writes. */
const joinedBytesMax = 8 * 1024;

export type UpstreamRequest = {
  /** Ends with the empty line; one character a byte. */
  head: string;
  body: Buffer | null;
};

/**
 * The constant part of a request head: without the method and the body's headers. Throws for characters that HTTP
 * cannot carry.
 */
export function formatSharedHead({ origin, path, headers }: Endpoint): string {
  if (!/^\/[\x21-\x7e]*$/.test(path)) throw unsendable("The path");
  return ` ${path} HTTP/1.1\r\nhost: ${new URL(origin).host}\r\nconnection: keep-alive\r\n${formatFields(headers)}`;
}

/**
 * Formats a POST request, or a GET request without a body.
 * @param moreHeaders alternating names and values
 */
export function formatRequest(
  sharedHead: string,
  moreHeaders: string[],
  body: Buffer | null,
): UpstreamRequest {
  const fields = moreHeaders.length === 0 ? "" : formatFields(moreHeaders);
  return body === null
    ? { head: `GET${sharedHead}${fields}\r\n`, body }
    : { head: `POST${sharedHead}${fields}content-length: ${body.length}\r\n\r\n`, body };
}

function formatFields(headers: string[]): string {
  let fields = "";
  for (let index = 0; index < headers.length; index += 2) {
    const [name = "", value = ""] = headers.slice(index, index + 2);
    if (!isToken(name) || ours.test(name)) throw unsendable("A header name");
    // The value may be a secret, so the error omits it.
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) throw unsendable(`The header ${name}`);
    fields += `${name}: ${value}\r\n`;
  }
  return fields;
}

/** Only the gateway sets headers that define the target and the framing. */
const ours = /^(?:host|connection|content-length|transfer-encoding)$/i;

function unsendable(what: string): Error {
  return withCode("EBADREQUEST", `${what} contains invalid characters.`);
}

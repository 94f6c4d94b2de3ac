import { type FailureReason, GatewayError } from "../errors.ts";
import { toUpstreamFailure } from "./upstream-failure.ts";
import type { UpstreamCall, UpstreamEvents, UpstreamHeaders, UpstreamTimeouts } from "./upstream-call.ts";

/** The pool while the call waits, then its connection. */
export type CallHolder = {
  pause(): void;
  resume(): void;
  /** Releases a call that is over. */
  drop(call: NetworkCall): void;
};

/**
 * One timer covers all timeouts except the connect timeout. The timer compares times when it fires, so chunks
 * do not reset it.
 */
export class NetworkCall implements UpstreamCall {
  /** Null before and after the call. */
  holder: CallHolder | null = null;
  readonly #events: UpstreamEvents;
  readonly #timeouts: UpstreamTimeouts;
  readonly #startedAt = performance.now();
  #lastActivityAt = this.#startedAt;
  #timer: NodeJS.Timeout;
  #wasSent = false;
  #hasHeaders = false;
  #isPaused = false;
  #isOver = false;

  constructor(events: UpstreamEvents, timeouts: UpstreamTimeouts) {
    this.#events = events;
    this.#timeouts = timeouts;
    const { firstByteTimeoutMs, idleTimeoutMs, totalTimeoutMs } = timeouts;
    const firstCheckMs = Math.min(firstByteTimeoutMs, idleTimeoutMs, totalTimeoutMs);
    this.#timer = setTimeout(() => this.#checkTimeouts(), firstCheckMs);
  }

  pause(): void {
    this.#isPaused = true;
    this.holder?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#lastActivityAt = performance.now();
    this.holder?.resume();
  }

  get wasSent(): boolean {
    return this.#wasSent;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Ends a call that was not sent. */
  fail(error: GatewayError): void {
    if (this.#isOver) return;
    this.#finish();
    this.#events.onError(error, false);
  }

  abort(): void {
    if (this.#isOver) return;
    const { holder } = this;
    this.#finish();
    holder?.drop(this);
  }

  /** Runs before the first byte is written. */
  onSent(): void {
    this.#wasSent = true;
  }

  onHeaders(status: number, headers: UpstreamHeaders): void {
    this.#hasHeaders = true;
    this.#lastActivityAt = performance.now();
    this.#events.onHeaders(status, headers);
  }

  onData(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#lastActivityAt = performance.now();
    this.#events.onData(bytes);
  }

  onEnd(): void {
    if (this.#isOver) return;
    this.#finish();
    this.#events.onEnd();
  }

  onFailure(cause: Error): void {
    if (this.#isOver) return;
    this.#finish();
    this.#events.onError(toUpstreamFailure(cause), this.#wasSent);
  }

  #finish(): void {
    this.#isOver = true;
    this.holder = null;
    clearTimeout(this.#timer);
  }

  #checkTimeouts(): void {
    const now = performance.now();
    const { firstByteTimeoutMs, idleTimeoutMs, totalTimeoutMs } = this.#timeouts;
    const leftInTotalMs = this.#startedAt + totalTimeoutMs - now;
    const leftInStepMs = this.#hasHeaders
      ? // While the client reads slowly, the upstream does not count as idle.
        (this.#isPaused ? now : this.#lastActivityAt) + idleTimeoutMs - now
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
    this.#events.onError(error, this.#wasSent);
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

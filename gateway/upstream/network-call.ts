import type { Dispatcher } from "undici";
import { GatewayError } from "../errors.ts";
import { toUpstreamFailure } from "./upstream-failure.ts";
import type { UpstreamCall, UpstreamEvents, UpstreamHeaders, UpstreamTimeouts } from "./upstream-call.ts";

/**
 * One HTTP call: undici's handler and what the relay holds of it. Its timeouts are kept by one timer, which looks at the
 * clock when it fires instead of being set anew for every chunk. undici's own are too coarse below a second.
 */
export class NetworkCall implements Dispatcher.DispatchHandler, UpstreamCall {
  readonly #events: UpstreamEvents;
  readonly #timeouts: UpstreamTimeouts;
  readonly #startedAt = performance.now();
  #lastActivityAt = this.#startedAt;
  #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #hasHeaders = false;
  #isPaused = false;
  #isOver = false;

  constructor(events: UpstreamEvents, timeouts: UpstreamTimeouts) {
    this.#events = events;
    this.#timeouts = timeouts;
    // Early enough for whichever limit comes first.
    const { firstByteTimeoutMs, idleTimeoutMs, totalTimeoutMs } = timeouts;
    const firstCheckMs = Math.min(firstByteTimeoutMs, idleTimeoutMs, totalTimeoutMs);
    this.#timer = setTimeout(() => this.#checkTimeouts(), firstCheckMs);
  }

  pause(): void {
    this.#isPaused = true;
    this.#controller?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#lastActivityAt = performance.now();
    this.#controller?.resume();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Ends the call before it was sent. */
  fail(error: GatewayError): void {
    if (this.#isOver) return;
    this.#finish();
    this.#events.onError(error, false);
  }

  abort(): void {
    if (this.#isOver) return;
    this.#finish();
    this.#controller?.abort(new Error("The call is not wanted any more."));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It may have waited for a free connection until nobody wanted it.
    if (this.#isOver) controller.abort(new Error("The call is not wanted any more."));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: UpstreamHeaders,
  ): void {
    if (this.#isOver || status < 200) return;
    this.#hasHeaders = true;
    this.#lastActivityAt = performance.now();
    this.#events.onHeaders(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.#isOver) return;
    this.#lastActivityAt = performance.now();
    this.#events.onData(bytes);
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    this.#finish();
    this.#events.onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isOver) return;
    this.#finish();
    this.#events.onError(toUpstreamFailure(error), this.#wasSent);
  }

  /** undici hands over the controller when it begins to write the request to a connection. */
  get #wasSent(): boolean {
    return this.#controller !== null;
  }

  #finish(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #checkTimeouts(): void {
    const now = performance.now();
    const { firstByteTimeoutMs, idleTimeoutMs, totalTimeoutMs } = this.#timeouts;
    const leftInTotalMs = this.#startedAt + totalTimeoutMs - now;
    const leftInStepMs = this.#hasHeaders
      ? // While the client is slow to take what is there, the upstream is not the one that idles.
        (this.#isPaused ? now : this.#lastActivityAt) + idleTimeoutMs - now
      : this.#startedAt + firstByteTimeoutMs - now;
    const leftMs = Math.min(leftInTotalMs, leftInStepMs);
    if (leftMs > 0) {
      this.#timer = setTimeout(() => this.#checkTimeouts(), Math.ceil(leftMs));
      return;
    }
    const what =
      leftInTotalMs <= 0
        ? `take no more than ${totalTimeoutMs} ms`
        : this.#hasHeaders
          ? `go on within ${idleTimeoutMs} ms`
          : `answer within ${firstByteTimeoutMs} ms`;
    this.abort();
    this.#events.onError(
      new GatewayError("upstream_timeout", `The model's provider did not ${what}.`),
      this.#wasSent,
    );
  }
}

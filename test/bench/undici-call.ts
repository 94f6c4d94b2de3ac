import { type Dispatcher, Pool } from "undici";
import { toUpstreamFailure } from "../../gateway/upstream/upstream-failure.ts";
import type { UpstreamCall, UpstreamEvents } from "../../gateway/upstream/upstream-call.ts";
import type { Upstreams } from "../../gateway/upstream/upstreams.ts";

/** Implements `Upstreams.call` with undici, for comparison with the gateway's own HTTP client. */
export function createUndiciCall(): Upstreams["call"] {
  const pools = new Map<string, Pool>();
  const poolOf = (origin: string, timeouts: Parameters<Upstreams["call"]>[2]) => {
    const existing = pools.get(origin);
    if (existing) return existing;
    const pool = new Pool(origin, {
      headersTimeout: timeouts.firstByteTimeoutMs,
      bodyTimeout: timeouts.idleTimeoutMs,
      connectTimeout: timeouts.connectTimeoutMs,
    });
    pools.set(origin, pool);
    return pool;
  };
  return ({ origin, path, headers }, body, timeouts, events) => {
    const call = new UndiciCall(events, timeouts.totalTimeoutMs);
    const method = body === null ? "GET" : "POST";
    poolOf(origin, timeouts).dispatch({ method, path, headers, body: body && Buffer.concat(body) }, call);
    return call;
  };
}

class UndiciCall implements UpstreamCall, Dispatcher.DispatchHandler {
  wasSent = false;
  readonly #events: UpstreamEvents;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #isOver = false;

  constructor(events: UpstreamEvents, totalTimeoutMs: number) {
    this.#events = events;
    this.#timer = setTimeout(() => this.onResponseError(null, new Error("total timeout")), totalTimeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.wasSent = true;
    if (this.#isOver) controller.abort(new Error("aborted"));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (!this.#isOver) this.#events.onHeaders(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (!this.#isOver) this.#events.onData(bytes);
  }

  onResponseEnd(): void {
    if (this.#finish()) this.#events.onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#finish()) this.#events.onError(toUpstreamFailure(error), this.wasSent);
  }

  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    this.#controller?.resume();
  }

  abort(): void {
    if (this.#finish()) this.#controller?.abort(new Error("aborted"));
  }

  #finish(): boolean {
    if (this.#isOver) return false;
    clearTimeout(this.#timer);
    return (this.#isOver = true);
  }
}

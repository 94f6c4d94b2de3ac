import { GatewayError } from "../errors.ts";
import type { ScriptedAnswer } from "../providers/provider.ts";
import type { UpstreamCall, UpstreamEvents, UpstreamTimeouts } from "./upstream-call.ts";

/** Emits the events of a scripted answer without a connection. */
export class LocalCall implements UpstreamCall {
  readonly wasSent = true;
  readonly #answer: ScriptedAnswer;
  readonly #timeouts: UpstreamTimeouts;
  readonly #events: UpstreamEvents;
  readonly #parts: Iterator<{ delayMs: number; text: string }>;
  readonly #startedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #turn: NodeJS.Immediate | undefined;
  #next: { delayMs: number; text: string } | null = null;
  #isWaiting = false;
  #isPaused = false;
  #isOver = false;

  constructor(answer: ScriptedAnswer, timeouts: UpstreamTimeouts, events: UpstreamEvents) {
    this.#answer = answer;
    this.#timeouts = timeouts;
    this.#events = events;
    this.#parts = answer.parts[Symbol.iterator]();
    // The timer defers the first event, because the caller needs the call object first.
    this.#timer = setTimeout(() => {
      this.#events.onHeaders(this.#answer.status, this.#answer.headers);
      this.#advance();
    });
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (!this.#isWaiting) this.#schedule();
  }

  abort(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    clearImmediate(this.#turn);
  }

  /** Yields to the event loop after `piecesPerTurn` pieces, so that a long answer does not block other requests. */
  #advance(): void {
    for (let pieces = 0; pieces < piecesPerTurn; pieces++) {
      if (this.#isOver || this.#isPaused) return;
      if (this.#next === null) {
        const { value, done } = this.#parts.next();
        if (done) return this.#finish();
        this.#next = value;
      }
      const { delayMs, text } = this.#next;
      if (delayMs > 0) {
        this.#next = { delayMs: 0, text };
        return this.#wait(delayMs);
      }
      this.#next = null;
      this.#events.onData(Buffer.from(text));
    }
    if (!this.#isOver && performance.now() >= this.#endsAt) this.#fail("total_timeout");
    else this.#schedule();
  }

  #schedule(): void {
    if (this.#isOver) return;
    clearImmediate(this.#turn);
    this.#turn = setImmediate(() => this.#advance());
  }

  /** Continues after the delay, unless the idle timeout or the total timeout ends the call first. */
  #wait(delayMs: number): void {
    const { idleTimeoutMs } = this.#timeouts;
    const leftMs = this.#endsAt - performance.now();
    this.#isWaiting = true;
    this.#timer = setTimeout(
      () => {
        this.#isWaiting = false;
        if (delayMs > leftMs && leftMs <= idleTimeoutMs) this.#fail("total_timeout");
        else if (delayMs > idleTimeoutMs) this.#fail("idle_timeout");
        else this.#advance();
      },
      Math.min(delayMs, idleTimeoutMs, leftMs),
    );
  }

  #finish(): void {
    const { ending } = this.#answer;
    // A silent answer waits until a timeout ends the call.
    if (ending === "silent") return this.#wait(Infinity);
    this.#isOver = true;
    if (ending === "complete") return this.#events.onEnd();
    const message =
      "The demo provider closed the connection, as the prompt requested. Change the prompt to get an answer.";
    this.#events.onError(new GatewayError("upstream_error", message, { reason: "connection_lost" }), true);
  }

  #fail(reason: "idle_timeout" | "total_timeout"): void {
    this.abort();
    const message = `The demo provider exceeded its ${reason === "idle_timeout" ? "idle" : "total"} timeout. Retry the request.`;
    this.#events.onError(new GatewayError("upstream_timeout", message, { reason }), true);
  }

  get #endsAt(): number {
    return this.#startedAt + this.#timeouts.totalTimeoutMs;
  }
}

const piecesPerTurn = 64;

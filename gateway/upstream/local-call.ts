import { GatewayError } from "../errors.ts";
import type { ScriptedAnswer } from "../providers/provider.ts";
import type { UpstreamCall, UpstreamEvents, UpstreamTimeouts } from "./upstream-call.ts";

/** Plays an answer that was made here, as if it came from an upstream. */
export function playAnswer(
  answer: ScriptedAnswer,
  timeouts: UpstreamTimeouts,
  events: UpstreamEvents,
): UpstreamCall {
  const call = new LocalCall(answer, timeouts, events);
  call.start();
  return call;
}

class LocalCall implements UpstreamCall {
  readonly wasSent = true;
  readonly #answer: ScriptedAnswer;
  readonly #timeouts: UpstreamTimeouts;
  readonly #events: UpstreamEvents;
  readonly #parts: Iterator<{ delayMs: number; text: string }>;
  #timer: NodeJS.Timeout | undefined;
  #next: { delayMs: number; text: string } | null = null;
  #isPaused = false;
  #isOver = false;

  constructor(answer: ScriptedAnswer, timeouts: UpstreamTimeouts, events: UpstreamEvents) {
    this.#answer = answer;
    this.#timeouts = timeouts;
    this.#events = events;
    this.#parts = answer.parts[Symbol.iterator]();
  }

  start(): void {
    // Not at once: whoever starts a call must hold it before the first event.
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
    if (this.#next?.delayMs === 0) this.#play();
  }

  abort(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #advance(): void {
    while (!this.#isOver) {
      const { value, done } = this.#parts.next();
      if (done) return this.#finish();
      this.#next = value;
      if (value.delayMs > 0) {
        this.#timer = setTimeout(() => this.#play(), value.delayMs);
        return;
      }
      if (this.#isPaused) return;
      this.#emit();
    }
  }

  #play(): void {
    if (this.#isOver || this.#isPaused) {
      // Its time has come; `resume` plays it.
      if (this.#next) this.#next = { ...this.#next, delayMs: 0 };
      return;
    }
    this.#emit();
    this.#advance();
  }

  #emit(): void {
    const part = this.#next;
    this.#next = null;
    if (part) this.#events.onData(Buffer.from(part.text));
  }

  #finish(): void {
    const { ending } = this.#answer;
    if (ending === "silent") {
      this.#timer = setTimeout(() => {
        this.#isOver = true;
        const message = "The demo provider fell silent, as it was told to.";
        const error = new GatewayError("upstream_timeout", message, { reason: "idle_timeout" });
        this.#events.onError(error, true);
      }, this.#timeouts.idleTimeoutMs);
      return;
    }
    this.#isOver = true;
    if (ending === "complete") return this.#events.onEnd();
    const message = "The demo provider broke off, as it was told to.";
    this.#events.onError(new GatewayError("upstream_error", message, { reason: "connection_lost" }), true);
  }
}

import type { GatewayError } from "../errors.ts";
import { timeOfId } from "../ids.ts";
import type { KnownKey } from "../keys/authenticate-key.ts";
import type { Admission } from "../limits/rates/admission.ts";
import type { Attempts } from "../routing/attempts.ts";
import type { Candidate } from "../routing/candidate.ts";
import type { Route } from "../routing/catalogue.ts";
import type { ObservedRequest, RequestObserver } from "../usage/request-observer.ts";
import {
  type AttemptTiming,
  attemptTimingsMax,
  buildUsageRecord,
  type Outcome,
  timeAttempt,
  type UsageRecorder,
} from "../usage/recording/usage-recorder.ts";
import type { StartedRequest } from "../usage/recording/spool.ts";
import type { Answer, Reply } from "./reply.ts";

type ExchangeOptions = Pick<Exchange, "id" | "endpoint" | "clientTool" | "key" | "reply" | "observed"> & {
  /** The operation's name in OpenTelemetry's conventions. */
  telemetryName: string;
  recorder: UsageRecorder;
  observer: RequestObserver | null;
  openExchanges: OpenExchanges;
  heldBody: { release(): void };
};

/**
 * The state of one authenticated request. An exchange ends exactly once, with a usage record that is written
 * before the client's last bytes. Only its own methods write its fields.
 */
export class Exchange {
  readonly id: string;
  readonly createdAt: Date;
  readonly startedAt = performance.now();
  readonly endpoint: string;
  readonly clientTool: string | null;
  readonly reply: Reply;
  readonly observed: ObservedRequest | null;
  key: KnownKey;
  index = -1;
  requestedModel = "";
  stream = false;
  estimateInputTokens: (() => number) | null = null;
  route: Route | null = null;
  candidate: Candidate | null = null;
  attempts = 0;
  failedAttempts: AttemptTiming[] | null = null;
  receivedAt = this.startedAt;
  /** The start of the first attempt, from `performance.now()`. 0 before the first attempt. */
  calledAt = 0;
  /** The start of the latest attempt, from `performance.now()`. 0 before the first attempt. */
  attemptedAt = 0;
  call: Attempts | null = null;
  answer: Answer | null = null;
  isOver = false;
  readonly #options: ExchangeOptions;
  #admission: Admission | null = null;
  #started: StartedRequest | null = null;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.id = options.id;
    // The time comes from the ID, so that a period of time is a range of IDs.
    this.createdAt = new Date(timeOfId(options.id));
    this.endpoint = options.endpoint;
    this.clientTool = options.clientTool;
    this.reply = options.reply;
    this.observed = options.observed;
    this.key = options.key;
    options.openExchanges.add(this);
  }

  moveTo(index: number): void {
    this.index = index;
  }

  keyChanged(key: KnownKey): void {
    this.key = key;
  }

  /** Runs when the whole body has arrived. The gateway's overhead starts here. */
  received(): void {
    this.receivedAt = performance.now();
  }

  describe(requestedModel: string, stream: boolean, estimateInputTokens: () => number): void {
    this.requestedModel = requestedModel;
    this.stream = stream;
    this.estimateInputTokens = estimateInputTokens;
  }

  resolved(route: Route): void {
    this.route = route;
  }

  admitting(admission: Admission): void {
    this.#admission = admission;
  }

  attempting(candidate: Candidate, call: Attempts): void {
    this.candidate = candidate;
    this.call = call;
    this.answer = null;
    this.attemptedAt = performance.now();
    if (this.attempts++ === 0) this.calledAt = this.attemptedAt;
    this.observed?.call(candidate);
    const { recorder } = this.#options;
    if (this.#started) recorder.update(this.#started);
    else this.#started = recorder.start(() => buildUsageRecord(this));
  }

  attemptFailed(candidate: Candidate, failure: string): void {
    this.failedAttempts ??= [];
    if (this.failedAttempts.length < attemptTimingsMax) {
      this.failedAttempts.push(timeAttempt(this, candidate, failure));
    }
  }

  answered(answer: Answer): void {
    this.answer = answer;
    this.observed?.callAnswered(200);
  }

  /**
   * Returns alternating names and values. `x-gateway-overhead-ms` is the time from `receivedAt` to the
   * first attempt, plus the time since `answeredAt`.
   */
  answerHeaders(answeredAt: number): string[] {
    const overheadMs = this.calledAt - this.receivedAt + (performance.now() - answeredAt);
    const headers = ["x-gateway-overhead-ms", overheadMs.toFixed(2)];
    if (this.call?.dropped) headers.push("x-gateway-dropped", this.call.dropped);
    return this.#admission?.addHeaders(headers) ?? headers;
  }

  /** Ends the exchange after a complete answer. `sendRest` sends the last bytes once the record is written. */
  succeed(sendRest: () => void): void {
    this.#end({ status: "SUCCEEDED", httpStatus: 200, error: null }, sendRest);
  }

  fail(error: GatewayError, status: "FAILED" | "INTERRUPTED" = "FAILED"): void {
    const httpStatus = this.reply.hasBegun ? 200 : this.reply.statusOf(error);
    this.#end({ status, httpStatus, error }, () => {
      // The client's retries would multiply the gateway's retries. After a final error, a retry would fail too.
      const headers = this.attempts > 1 || error.isFinal ? ["x-should-retry", "false"] : [];
      this.reply.fail(error, this.#admission?.addHeaders(headers) ?? headers);
    });
  }

  /** Whether another candidate now answers in place of a failed answer. The client must not have received a byte. */
  divert(error: GatewayError): boolean {
    const { isOver, reply, call } = this;
    return error.withoutAnswer !== null && !isOver && !reply.hasBegun && call?.divert(error) === true;
  }

  failOrDivert(error: GatewayError): void {
    if (!this.divert(error)) this.fail(error);
  }

  /** Runs if the client disconnects or stops reading. 499 is nginx's code for a connection closed by the client. */
  cancel(): void {
    this.#end({ status: "CANCELLED", httpStatus: this.reply.hasBegun ? 200 : 499, error: null }, () => {});
  }

  /** @param proceed runs once the record is written */
  #end(outcome: Outcome, proceed: () => void): void {
    if (this.isOver) return;
    this.isOver = true;
    const { openExchanges, heldBody, recorder, observer, telemetryName } = this.#options;
    openExchanges.remove(this);
    heldBody.release();
    this.answer?.onOver?.();
    if (outcome.status !== "SUCCEEDED") this.call?.abort();
    const record = buildUsageRecord(this, outcome);
    this.#admission?.end(record);
    const model = this.route?.slug ?? null;
    const firstTokenAt = this.answer?.firstTokenAt ?? null;
    const errorCode = outcome.error?.code ?? null;
    observer?.ended({ request: this.observed, record, telemetryName, model, errorCode, firstTokenAt });
    recorder.record(record, this.#started, proceed);
  }
}

type OpenExchange = Pick<Exchange, "key" | "route" | "stream" | "index" | "moveTo" | "keyChanged" | "fail">;

/** The requests in flight. A `Set` would be rehashed constantly and keep finished requests in memory. */
export class OpenExchanges {
  readonly #open: OpenExchange[] = [];
  #onEmpty: (() => void) | null = null;

  add(exchange: OpenExchange): void {
    exchange.moveTo(this.#open.push(exchange) - 1);
  }

  remove(exchange: OpenExchange): void {
    const last = this.#open.pop();
    if (last && last !== exchange) {
      last.moveTo(exchange.index);
      this.#open[last.index] = last;
    }
    if (this.#open.length === 0) this.#onEmpty?.();
  }

  count(): { requests: number; streams: number } {
    const streams = this.#open.reduce((sum, { stream }) => sum + (stream ? 1 : 0), 0);
    return { requests: this.#open.length, streams };
  }

  keyIds(): string[] {
    return [...new Set(this.#open.map(({ key }) => key.id))];
  }

  /** Returns the hashes of the key values that authenticated the key's requests in flight. */
  hashesOf(keyId: string): Set<string> {
    return new Set(this.#open.flatMap(({ key }) => (key.id === keyId ? key.hash : [])));
  }

  /**
   * Applies a changed key to its requests in flight. Requests that the key no longer allows end with `error`.
   * @param hash the hash of the key value that authenticated the requests
   */
  update(keyId: string, hash: string, key: KnownKey | null, error: GatewayError): void {
    const affected = this.#open.filter((exchange) => exchange.key.id === keyId && exchange.key.hash === hash);
    for (const exchange of affected) {
      if (key === null || (exchange.route && !key.modelIds.has(exchange.route.id))) exchange.fail(error);
      else exchange.keyChanged(key);
    }
  }

  /** Ends the requests whose key has expired. */
  expire(now: number, error: GatewayError): void {
    const expired = this.#open.filter(({ key: { validUntil } }) => validUntil !== null && validUntil <= now);
    for (const exchange of expired) exchange.fail(error);
  }

  /** Resolves when no request is in flight. After `timeoutMs`, the remaining requests end with `error`. */
  async drain(timeoutMs: number, error: GatewayError): Promise<void> {
    if (this.#open.length === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onEmpty = resolve;
    const timer = setTimeout(() => {
      for (const exchange of this.#open.slice()) exchange.fail(error, "INTERRUPTED");
    }, timeoutMs);
    await promise;
    clearTimeout(timer);
  }
}

import type { GatewayError } from "../errors.ts";
import { timeOfId } from "../ids.ts";
import type { KnownKey } from "../keys/key-cache.ts";
import type { Admission } from "../limits/rates/admission.ts";
import type { Attempts } from "../routing/attempts.ts";
import type { Candidate } from "../routing/candidate.ts";
import type { Route } from "../routing/resolve-route.ts";
import type { Runtime } from "../runtime.ts";
import { completeUsage, toUsed } from "../usage/counting/complete-usage.ts";
import type { ObservedRequest } from "../usage/observed-request.ts";
import {
  buildUsageRecord,
  type Outcome,
  type RecordedRequest,
} from "../usage/recording/build-usage-record.ts";
import { gatewayDied, noFailure, toFailureColumns } from "../usage/recording/failure-columns.ts";
import type { StartedRequest } from "../usage/recording/started-requests.ts";
import type { UsageRecorder } from "../usage/recording/usage-recorder.ts";
import type { RequestObserver } from "../usage/request-observer.ts";
import type { TokenUsage } from "../wire/chat-completion.ts";
import type { OpenExchanges } from "./open-exchanges.ts";
import type { Reply } from "./reply.ts";

export type ExchangeOptions = Pick<RecordedRequest, "id" | "endpoint" | "clientTool"> & {
  key: KnownKey;
  reply: Reply;
  runtime: Runtime;
  recorder: UsageRecorder;
  /** Null where neither metrics nor traces are on, as is `observed`. */
  observer: RequestObserver | null;
  observed: ObservedRequest | null;
  openExchanges: OpenExchanges;
  /** Released when the request ends. */
  heldBody: { release(): void };
};

/**
 * One request from the moment its key is known. It ends exactly once: with one usage record, written before the client gets
 * its last bytes, and with the upstream call closed.
 */
export class Exchange implements RecordedRequest {
  readonly id: string;
  readonly createdAt: Date;
  readonly startedAt = performance.now();
  readonly endpoint: string;
  readonly clientTool: string | null;
  readonly reply: Reply;
  readonly observed: ObservedRequest | null;
  /** The current key: a change of the key reaches open requests. */
  key: KnownKey;
  /** Set by the limiter. */
  admission: Admission | null = null;
  /** Set by `OpenExchanges`. */
  place = -1;
  bodyBytes = 0;
  requestedModel = "";
  stream = false;
  route: Route | null = null;
  candidate: Candidate | null = null;
  attempts = 0;
  firstTokenAt: number | null = null;
  isOver = false;
  readonly #options: ExchangeOptions;
  #receivedAt = this.startedAt;
  #calledAt = 0;
  #body: (() => Record<string, unknown>) | null = null;
  #usage: TokenUsage | null = null;
  #output: { readonly tokens: number } | null = null;
  #started: StartedRequest | null = null;
  #call: Attempts | null = null;
  #onOver: (() => void) | null = null;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.id = options.id;
    // The same moment as in the id, so that a period is a range of ids.
    this.createdAt = new Date(timeOfId(options.id));
    this.endpoint = options.endpoint;
    this.clientTool = options.clientTool;
    this.reply = options.reply;
    this.observed = options.observed;
    this.key = options.key;
    options.openExchanges.add(this);
  }

  /** The whole body has arrived: from now on, time is the gateway's. */
  received(bodyBytes: number): void {
    this.bodyBytes = bodyBytes;
    this.#receivedAt = performance.now();
  }

  /** `body` reads the whole body of the request. */
  describe(requestedModel: string, stream: boolean, body: () => Record<string, unknown>): void {
    this.requestedModel = requestedModel;
    this.stream = stream;
    this.#body = body;
  }

  resolved(route: Route): void {
    this.route = route;
  }

  /** Keeps hold of the call, and begins it. */
  start(attempts: Attempts): void {
    this.#call = attempts;
    attempts.begin();
  }

  attempting(candidate: Candidate): void {
    this.candidate = candidate;
    if (this.attempts++ === 0) this.#calledAt = performance.now();
    this.observed?.call(candidate);
    const { recorder } = this.#options;
    if (this.#started) recorder.update(this.#started);
    else this.#started = recorder.start(() => buildUsageRecord(this, interrupted(this.candidate)));
  }

  /** The upstream answers with status 200. `output` counts its output text from then on. */
  answered(output: { readonly tokens: number }): void {
    this.#output = output;
    this.observed?.callAnswered(200);
  }

  gotFirstToken(): void {
    this.firstTokenAt ??= performance.now();
  }

  reportUsage(usage: TokenUsage): void {
    this.#usage = usage;
  }

  pauseUpstream(): void {
    this.#call?.pause();
  }

  resumeUpstream(): void {
    this.#call?.resume();
  }

  closeUpstream(): void {
    this.#call?.abort();
  }

  onOver(listener: () => void): void {
    this.#onOver = listener;
  }

  /** `x-gateway-overhead-ms`, the gateway's own time before the call and after the answer, and the limits' headers. */
  answerHeaders(answeredAt: number): string[] {
    const overheadMs = this.#calledAt - this.#receivedAt + (performance.now() - answeredAt);
    return this.#withLimits(["x-gateway-overhead-ms", overheadMs.toFixed(2)]);
  }

  /** The answer is complete. `sendRest` sends its last bytes once the record is written. */
  succeed(sendRest: () => void): void {
    this.#end("SUCCEEDED", 200, null, sendRest);
  }

  fail(error: GatewayError): void {
    this.#end("FAILED", this.#shownStatus(error), error, () => this.#sendError(error));
  }

  /** The gateway is shutting down. */
  interrupt(error: GatewayError): void {
    this.#end("INTERRUPTED", this.#shownStatus(error), error, () => this.#sendError(error));
  }

  /** The client closed its connection. 499 is the field's status for that. */
  cancel(): void {
    this.#end("CANCELLED", this.reply.hasBegun ? 200 : 499, null, () => {});
  }

  /** The client stopped reading without closing its connection. */
  abandon(): void {
    this.cancel();
    this.reply.abandon();
  }

  #shownStatus(error: GatewayError): number {
    return this.reply.hasBegun ? 200 : this.reply.statusOf(error);
  }

  #sendError(error: GatewayError): void {
    // A client's retry would multiply the gateway's retries, and cannot help against a final error.
    const headers = this.attempts > 1 || error.isFinal ? ["x-should-retry", "false"] : [];
    this.reply.fail(error, this.#withLimits(headers));
  }

  #withLimits(headers: string[]): string[] {
    return this.admission?.addHeaders(headers) ?? headers;
  }

  /** @param proceed runs once the record is written */
  #end(status: Outcome["status"], httpStatus: number, error: GatewayError | null, proceed: () => void): void {
    if (this.isOver) return;
    this.isOver = true;
    const { openExchanges, heldBody, recorder, observer } = this.#options;
    openExchanges.remove(this);
    heldBody.release();
    this.#onOver?.();
    if (status !== "SUCCEEDED") this.#call?.abort();
    // A provider that received nothing of the request has no usage to record.
    const sentTo = this.#call?.wasSent ? this.candidate : null;
    const asked = sentTo && this.#body;
    const counted = completeUsage({ status, reported: this.#usage, said: this.#output, asked });
    const failure = error ? toFailureColumns(error) : noFailure;
    const outcome = { status, httpStatus, failure, used: toUsed(counted, sentTo) };
    const record = buildUsageRecord(this, outcome);
    this.admission?.end(record);
    observer?.ended({
      request: this.observed,
      record,
      model: this.route?.slug ?? null,
      errorCode: error?.code ?? null,
      firstTokenAt: this.firstTokenAt,
    });
    recorder.record(record, this.#started, proceed);
  }
}

/** The outcome of a request whose process dies. */
function interrupted(candidate: Candidate | null): Outcome {
  return { status: "INTERRUPTED", httpStatus: 500, failure: gatewayDied, used: toUsed(null, candidate) };
}

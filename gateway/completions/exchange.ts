import { GatewayError } from "../errors.ts";
import { timeOfId } from "../ids.ts";
import type { Admission } from "../limits/admission.ts";
import type { KnownKey } from "../keys/key-cache.ts";
import type { Route } from "../models/resolve-route.ts";
import type { Way } from "../models/way.ts";
import type { Attempts } from "../upstream/attempts.ts";
import { completeUsage, toUsed } from "../usage/complete-usage.ts";
import { type FailureColumns, gatewayDied, noFailure, toFailureColumns } from "../usage/failure-columns.ts";
import type { ObservedRequest } from "../usage/observed-request.ts";
import type { UsageRecord } from "../usage/record-format.ts";
import type { StartedRequest } from "../usage/started-requests.ts";
import type { TokenUsage } from "../wire/chat-completion.ts";
import type { ExchangeOptions } from "./exchange-options.ts";
import type { Reply } from "./reply.ts";

/**
 * One request from the moment its key is known until it is over. However it ends, it ends once: with one usage record,
 * written before the client gets its last bytes, and with the upstream let go.
 */
export class Exchange {
  readonly id: string;
  /** As it is now: a change of the key reaches the requests under way. */
  key: KnownKey;
  readonly reply: Reply;
  readonly observed: ObservedRequest | null;
  readonly createdAt: Date;
  /** Its place within its limits, once it asks for one. */
  admission: Admission | null = null;
  bodyBytes = 0;
  /** What the upstream has reported. */
  usage: TokenUsage | null = null;
  isStream = false;
  /** Among those under way. */
  place = -1;
  readonly #options: ExchangeOptions;
  readonly #startedAt = performance.now();
  #route: Route | null = null;
  #way: Way | null = null;
  #attempts = 0;
  /** What the recorder knows of it, from its first call on. */
  #started: StartedRequest | null = null;
  #askedModel = "";
  #asked: (() => Record<string, unknown>) | null = null;
  /** What the upstream says, once it answers; null while it does not, or refuses. */
  #said: { readonly tokens: number } | null = null;
  #call: Attempts | null = null;
  #receivedAt = this.#startedAt;
  #calledAt = 0;
  #firstTokenAt: number | null = null;
  #isOver = false;
  #onOver: (() => void) | null = null;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.id = options.id;
    this.key = options.key;
    this.reply = options.reply;
    this.observed = options.observed;
    // The same moment as in the id, so that a period is a range of ids.
    this.createdAt = new Date(timeOfId(options.id));
    options.openExchanges.add(this);
  }

  /** Null until it is decided. */
  get route(): Route | null {
    return this.#route;
  }

  /** The way that was taken, or tried last; null until then. */
  get way(): Way | null {
    return this.#way;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The whole request has arrived: what passes from now on is the gateway's time. */
  noteReceived(bodyBytes: number): void {
    this.bodyBytes = bodyBytes;
    this.#receivedAt = performance.now();
  }

  /**
   * What the client asked for.
   * @param askedModel as it is kept: empty where it could be something else than a name; `asked` reads the whole body
   */
  describe(askedModel: string, isStream: boolean, asked: () => Record<string, unknown>): void {
    this.#askedModel = askedModel;
    this.#asked = asked;
    this.isStream = isStream;
  }

  /** Where it is going. */
  take(route: Route): void {
    this.#route = route;
  }

  /** An upstream is about to be called. */
  noteAttempt(way: Way): void {
    this.#way = way;
    if (this.#attempts++ === 0) this.#calledAt = performance.now();
    this.observed?.call(way);
    const { recorder } = this.#options;
    const toRecord = () => this.#toRecord("INTERRUPTED", 500, gatewayDied, toUsed(null, this.#way));
    if (this.#started) recorder.update(this.#started);
    else this.#started = recorder.start(toRecord);
  }

  /** Begins the call and keeps hold of it. */
  call(attempts: Attempts): void {
    this.#call = attempts;
    attempts.begin();
  }

  pauseUpstream(): void {
    this.#call?.pause();
  }

  resumeUpstream(): void {
    this.#call?.resume();
  }

  dropUpstream(): void {
    this.#call?.abort();
  }

  /** Called once, however it ends. */
  onOver(listener: () => void): void {
    this.#onOver = listener;
  }

  /** The upstream answers, and what it says can be counted. */
  hear(said: { readonly tokens: number }): void {
    this.#said = said;
    this.observed?.callAnswered(200);
  }

  noteFirstToken(): void {
    this.#firstTokenAt ??= performance.now();
  }

  /** `x-gateway-overhead-ms`: what the gateway took, from the request's end to the call and from the answer on. And limits. */
  answerHeaders(answeredAt: number): string[] {
    const overheadMs = this.#calledAt - this.#receivedAt + (performance.now() - answeredAt);
    const headers = ["x-gateway-overhead-ms", overheadMs.toFixed(2)];
    return this.admission?.addHeaders(headers) ?? headers;
  }

  /** The answer is complete: notes it, then lets `sendRest` give the client what is left. */
  succeed(sendRest: () => void): void {
    if (this.#isOver) return;
    this.#settle("SUCCEEDED", 200, null, sendRest);
  }

  fail(error: GatewayError): void {
    if (this.#isOver) return;
    this.#settle("FAILED", this.#shownStatusOf(error), error, () => this.#sendError(error));
  }

  /** Ended by the gateway itself, not by the upstream: it is shutting down. */
  interrupt(error: GatewayError): void {
    if (this.#isOver) return;
    this.#settle("INTERRUPTED", this.#shownStatusOf(error), error, () => this.#sendError(error));
  }

  /** The client has gone. 499 is what the field calls that. */
  cancel(): void {
    if (this.#isOver) return;
    this.#settle("CANCELLED", this.reply.hasBegun ? 200 : 499, null, () => {});
  }

  /** The client is there but has stopped reading. */
  abandon(): void {
    this.cancel();
    this.reply.abandon();
  }

  #shownStatusOf(error: GatewayError): number {
    return this.reply.hasBegun ? 200 : this.reply.statusOf(error);
  }

  #sendError(error: GatewayError): void {
    // A client that tries again what was tried again here already would multiply it, and what is final would stay so.
    const headers = this.#attempts > 1 || error.isFinal ? ["x-should-retry", "false"] : [];
    this.reply.fail(error, this.admission?.addHeaders(headers) ?? headers);
  }

  /** @param proceed what has to wait until the end is written down */
  #settle(
    status: UsageRecord["status"],
    httpStatus: number,
    error: GatewayError | null,
    proceed: () => void,
  ): void {
    this.#isOver = true;
    const { openExchanges, heldBody, recorder, observer } = this.#options;
    openExchanges.remove(this);
    heldBody.release();
    this.#onOver?.();
    if (status !== "SUCCEEDED") this.#call?.abort();
    // What no provider got has not been worked on by any.
    const sentTo = this.#call?.wasSent ? this.#way : null;
    const asked = sentTo && this.#asked;
    const counted = completeUsage({ status, reported: this.usage, said: this.#said, asked });
    const failure = error ? toFailureColumns(error) : noFailure;
    const record = this.#toRecord(status, httpStatus, failure, toUsed(counted, sentTo));
    this.admission?.end(record);
    observer?.ended({
      request: this.observed,
      record,
      model: this.#route?.slug ?? null,
      errorCode: error?.code ?? null,
      firstTokenAt: this.#firstTokenAt,
    });
    recorder.record(record, this.#started, proceed);
  }

  #toRecord(
    status: UsageRecord["status"],
    httpStatus: number,
    failure: FailureColumns,
    used: ReturnType<typeof toUsed>,
  ): UsageRecord {
    const { endpoint, clientTool } = this.#options;
    const { way } = this;
    return {
      id: this.id,
      createdAt: this.createdAt,
      apiKeyId: this.key.id,
      apiKeyName: this.key.name,
      ownerId: this.key.ownerId,
      model: this.#askedModel,
      provider: way?.providerName ?? "",
      upstreamModel: way?.upstreamModel.name ?? null,
      credentialId: way?.credentialId ?? null,
      attempts: this.#attempts,
      endpoint,
      clientTool,
      stream: this.isStream,
      status,
      httpStatus,
      ...failure,
      ...used,
      latencyMs: Math.round(performance.now() - this.#startedAt),
      timeToFirstTokenMs: this.#firstTokenAt && Math.round(this.#firstTokenAt - this.#startedAt),
    };
  }
}

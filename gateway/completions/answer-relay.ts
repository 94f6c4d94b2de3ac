import type { ClientAnswer } from "../dialects/dialect.ts";
import type { TokenUsage } from "../wire/token-usage.ts";
import type { GatewayError } from "../errors.ts";
import type { UpstreamEvents, UpstreamHeaders } from "../upstream/upstream-call.ts";
import { GrowingBody, withoutByteOrderMark } from "../wire/bytes.ts";
import { ErrorCollector, errorInAnswer } from "./read-upstream-error.ts";
import type { Exchange } from "./exchange.ts";
import type { Answer } from "./reply.ts";
import { compressed, toAnswerError, tooLong } from "../wire/bad-answer.ts";
import type { ChatUsage } from "../wire/chat-completion.ts";
import { answerNames, OutputMeter } from "../usage/counting/token-meter.ts";

/** Converts an upstream's answer. May throw any error for a malformed answer. */
export type AnswerReading = (bytes: Buffer, contentType: string | null) => ClientAnswer;

/** Relays a non-streaming response, buffered until it can be validated. */
export class AnswerRelay implements UpstreamEvents, Answer {
  usage: TokenUsage | null = null;
  firstTokenAt: number | null = null;
  readonly #exchange: Exchange;
  readonly #read: AnswerReading;
  readonly #bytesMax: number;
  readonly #body: GrowingBody;
  #contentType: string | null = null;
  #error: ErrorCollector | null = null;

  constructor(exchange: Exchange, read: AnswerReading, bytesMax: number) {
    this.#exchange = exchange;
    this.#read = read;
    this.#bytesMax = bytesMax;
    this.#body = new GrowingBody(bytesMax);
  }

  onHeaders(status: number, headers: UpstreamHeaders): void {
    if (status !== 200) this.#error = new ErrorCollector(this.#exchange, status, headers);
    else if ((headers["content-encoding"] ?? "identity") !== "identity") {
      this.#exchange.fail(compressed());
    } else {
      const { "content-type": contentType } = headers;
      if (typeof contentType === "string") this.#contentType = contentType;
      this.#exchange.answered(this);
    }
  }

  /** Counts the output tokens so far on each access, because accesses are rare. */
  get tokens(): number {
    return estimateAnswerTokens(this.#body.bytes);
  }

  onData(bytes: Buffer): void {
    if (this.#error) return this.#error.add(bytes);
    this.#body.append(bytes);
    if (this.#body.length > this.#bytesMax) this.#exchange.fail(tooLong("its body", this.#bytesMax));
  }

  onEnd(): void {
    if (this.#error) return this.#error.finish();
    const answeredAt = performance.now();
    const answer = this.#readAnswer(withoutByteOrderMark(this.#body.bytes));
    if (answer === null) return;
    this.usage = answer.usage;
    this.firstTokenAt = performance.now();
    const { bytes, contentType } = answer;
    this.#exchange.succeed(() =>
      this.#exchange.reply.send(bytes, this.#exchange.answerHeaders(answeredAt), contentType),
    );
  }

  onError(error: GatewayError): void {
    this.#exchange.fail(error);
  }

  #readAnswer(bytes: Buffer): ClientAnswer | null {
    try {
      return this.#read(bytes, this.#contentType);
    } catch (thrown) {
      const { candidate } = this.#exchange;
      this.#exchange.failOrDivert(errorInAnswer(bytes, toAnswerError(thrown), candidate));
      return null;
    }
  }
}

/** Estimates the counts that the upstream did not report, because clients compute costs and context sizes from them. */
export function withEstimates(usage: Partial<ChatUsage> | null, estimate: TokenEstimate): ChatUsage {
  const promptTokens = usage?.prompt_tokens ?? estimate.inputTokens();
  const completionTokens = usage?.completion_tokens ?? estimate.outputTokens();
  const isReported = usage?.prompt_tokens !== undefined && usage.completion_tokens !== undefined;
  const total = isReported ? usage.total_tokens : undefined;
  return {
    ...usage,
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: total ?? promptTokens + completionTokens,
  };
}

type TokenEstimate = { inputTokens: () => number; outputTokens: () => number };

/** Estimates the output tokens of a whole answer in any dialect. */
export function estimateAnswerTokens(answer: Buffer): number {
  const meter = new OutputMeter(answerNames());
  const text = answer.toString("latin1");
  meter.read(text, 0, text.length);
  return meter.tokens;
}

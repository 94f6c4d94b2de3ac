import type { GatewayError } from "../errors.ts";
import type { ChatAnswer, DialectEndpointName, UpstreamModel } from "../providers/provider.ts";
import type {
  ChatRequestBody,
  ChatUsage,
  ChunkChoice,
  TokenUsage,
  ChatQuirks,
} from "../wire/chat-completion.ts";
import type { BodyLimits } from "./parse-body.ts";

/**
 * A form in which clients send requests and receive answers: pure functions. An upstream that speaks the same form gets the
 * client's bytes (`native`); for every other one, the request becomes a chat completion and the answer is converted back.
 */
export type Dialect<Request extends DialectRequest = DialectRequest> = {
  /** The path after `/v1/`, and the endpoint's name in usage records. */
  endpointName: Exclude<DialectEndpointName, "messages/count_tokens">;
  /**
   * Checks what the gateway reads and ignores the rest. Throws `invalid_body`, `missing_required_parameter`, `invalid_type`
   * or `invalid_value`.
   */
  readRequest(bytes: Buffer, limits: BodyLimits): Request;
  /**
   * The request as a chat completion; the caller sets `model`, `stream` and `stream_options`. Throws
   * `unsupported_parameter` where chat completions cannot express something that would change the answer.
   */
  toChatRequest(request: Request): ChatRequestBody;
  /** The whole answer. */
  formatAnswer(answer: ChatAnswer, envelope: AnswerEnvelope, request: Request): object;
  createStreamWriter(envelope: AnswerEnvelope, request: Request): StreamWriter;
  native: NativeDialect<Request>;
  /** An error as a whole answer. */
  formatError(error: ShownError): object;
  /** An error as the last event of a stream, with its line ends. `writer` wrote the stream, if it was translated. */
  formatErrorEvent(error: ShownError, writer: StreamWriter | null): string;
};

export type DialectRequest = {
  body: Record<string, unknown>;
  bytes: Buffer;
  /** The requested slug. */
  model: string;
  /** The slug's position in the bytes; null when a member that the gateway reads occurs twice. */
  modelRange: { start: number; end: number } | null;
  stream: boolean;
};

/** What the gateway itself adds to an answer. */
export type AnswerEnvelope = {
  /** The request's id, `req_…`; a dialect derives its own ids from it. */
  id: string;
  createdSeconds: number;
  nowSeconds: () => number;
  slug: string;
  /** For events that need the count before the upstream reports it. */
  estimateInputTokens: () => number;
};

/** Writes one stream: the events that a client gets, with their line ends. */
export type StreamWriter = {
  /**
   * Throws a `GatewayError` for a choice that cannot be written.
   * @param usage the counts so far
   */
  write(choice: ChunkChoice, usage: ChatUsage | null): string;
  /** The remaining events, up to the last one. */
  finish(usage: ChatUsage | null): string;
};

/** Relays an upstream that speaks this dialect: its own bytes, with the slug in place of the model's name. */
export type NativeDialect<Request extends DialectRequest = DialectRequest> = {
  /** Client headers that the upstream gets; names in lower case. */
  headerNames: readonly string[];
  /** The body for the upstream, which is nearly always the client's bytes with another model name. */
  buildRequest(request: Request, model: UpstreamModel, quirks: ChatQuirks | null): Buffer;
  /** Throws a `GatewayError` for an answer that is not in this form. */
  readAnswer(bytes: Buffer, slug: string): { bytes: Buffer; usage: TokenUsage | null };
  /** A global pattern that matches the names of JSON members with output text, up to the opening quote. */
  outputNames(): RegExp;
  /** @param meter counts the output text that passes */
  createReader(request: Request, slug: string, meter: OutputMeter): NativeReader;
};

/** Counts tokens of output text in JSON that is not parsed. */
export type OutputMeter = {
  /** @param text bytes of UTF-8, one character a byte, with a JSON object from `start` to `end` */
  read(text: string, start: number, end: number): void;
};

/** Rewrites one native stream. */
export type NativeReader = {
  /**
   * May throw anything for events that are not in this form.
   * @param events one or more complete server-sent events
   */
  read(events: Buffer): NativePiece;
};

export type NativePiece = {
  /** What the client gets, up to the end of the stream; may be empty. */
  bytes: Buffer;
  usage: TokenUsage | null;
  /** Whether the stream is over: complete, or with an error of the upstream, in its own words. */
  ending: "done" | GatewayError | null;
};

/** An error as a client may see it. */
export type ShownError = {
  status: number;
  message: string;
  type: string;
  param: string | null;
  code: string | null;
  requestId: string;
};

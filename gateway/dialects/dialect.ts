import type { GatewayError } from "../errors.ts";
import type { ChatAnswer, DialectEndpointName } from "../providers/provider.ts";
import type { ChatRequestBody, ChatUsage, ChunkChoice, TokenUsage } from "../wire/chat-completion.ts";
import type { UpstreamEvent } from "../wire/event-decoder.ts";
import type { BodyLimits } from "./parse-body.ts";

/**
 * A form in which clients ask and are answered, other than chat completions: pure functions. Where the upstream speaks it
 * itself, everything passes as it came (`native`); everywhere else it is translated to a chat completion and back.
 */
export type Dialect = {
  /** As it comes after `/v1/`, and in usage records. */
  endpointName: DialectEndpointName;
  /** Strict about what the gateway reads, silent about the rest. Throws as `readChatRequest` does. */
  readRequest(bytes: Buffer, limits: BodyLimits): DialectRequest;
  /**
   * The request as a chat completion; its `model` is set by the caller, and its `stream` and `stream_options` too. Throws
   * `unsupported_parameter` for what chat completions have no words for and what would change the answer.
   */
  toChatRequest(request: DialectRequest): ChatRequestBody;
  /** The whole answer. */
  formatAnswer(answer: ChatAnswer, envelope: AnswerEnvelope, request: DialectRequest): object;
  createStreamWriter(envelope: AnswerEnvelope, request: DialectRequest): StreamWriter;
  native: NativeDialect;
  /** An error as a whole answer. */
  formatError(error: ShownError): object;
  /** An error as the last event of a stream, with its line ends. `writer` is what wrote the stream, if it was translated. */
  formatErrorEvent(error: ShownError, writer: StreamWriter | null): string;
};

export type DialectRequest = {
  body: Record<string, unknown>;
  bytes: Buffer;
  /** The slug that was asked for. */
  model: string;
  /** Where it stands in the bytes; null when a member that was read occurs twice. */
  modelRange: { start: number; end: number } | null;
  stream: boolean;
};

/** What the gateway itself says in an answer. */
export type AnswerEnvelope = {
  /** The request's id, `req_…`; a dialect makes ids of its own form from it. */
  id: string;
  createdSeconds: number;
  slug: string;
};

/** Writes one stream: the events that a client gets, with their line ends. */
export type StreamWriter = {
  /**
   * Throws a `GatewayError` for what cannot be written any more.
   * @param usage what is known of it so far
   */
  write(choice: ChunkChoice, usage: ChatUsage | null): string;
  /** What is left when the upstream has said all, up to the last event. */
  finish(usage: ChatUsage | null): string;
};

/** How an upstream's own answer in this dialect is read on its way through, and the slug put where the model's name is. */
export type NativeDialect = {
  /** The request as its own upstream takes it: without what only this gateway understands. Mostly the same. */
  toNativeRequest(request: DialectRequest): DialectRequest;
  readAnswer(bytes: Buffer, slug: string): { bytes: Buffer; usage: TokenUsage | null };
  /** The names of the events that have to be looked at; all others pass as they are. */
  eventNames: ReadonlySet<string>;
  /** One such event. Called for each stream in order, with the reader that `createReader` made for it. */
  createReader(slug: string): NativeEventReader;
};

export type NativeEventReader = {
  /** May throw anything for what is no event of this dialect. */
  read(event: UpstreamEvent): {
    /** Other data for the event; null where it stays as it came. */
    data: string | null;
    /**
     * Whether the event ends the stream: as it should be, or by reporting an error (`upstream_error` with the upstream's
     * message). The client then gets the gateway's own error event in its place, without what it quotes of our credential.
     */
    ending: "done" | GatewayError | null;
  };
  /** The counts as far as they are known. */
  readonly usage: TokenUsage | null;
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

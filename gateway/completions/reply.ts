import type { StreamWriter } from "../dialects/dialect.ts";
import type { GatewayError } from "../errors.ts";
import type { RecordedAnswer } from "../usage/recording/build-usage-record.ts";

/** The way back to the client. A transport implements it; nothing here knows which. */
export type Reply = {
  /** Whether the head of the answer is on its way, so that an error can no longer change the status. */
  readonly hasBegun: boolean;
  /** The status an error has when it comes before the head. */
  statusOf(error: GatewayError): number;
  /** Begins a stream of server-sent events. */
  beginStream(headers: string[]): void;
  /** Returns false when the client is slow: wait for `onDrain` before writing on. */
  write(bytes: Buffer): boolean;
  /** Ends the stream that was begun. */
  endStream(lastBytes: Buffer): void;
  /** A whole answer in JSON. */
  sendJson(bytes: Buffer, headers: string[]): void;
  /** The writer of a translated stream, which also writes an error into it. */
  streamWith(writer: StreamWriter): void;
  /** The error, in the client's dialect: as an answer of its own (with the headers), or as the last event of a stream. */
  fail(error: GatewayError, headers?: string[]): void;
  /** Closes the connection as it is. */
  abandon(): void;
  onDrain(listener: () => void): void;
};

/** An upstream's answer with status 200, on its way to the client. */
export type Answer = RecordedAnswer & {
  /** The request has ended, however it did. */
  onOver?(): void;
};

import type { StreamWriter } from "../dialects/dialect.ts";
import type { GatewayError } from "../errors.ts";
import type { RecordedAnswer } from "../usage/recording/usage-recorder.ts";
import type { BytesOrText } from "../wire/bytes.ts";

/** The response to the client, over HTTP or a WebSocket. */
export type Reply = {
  /** After the response has begun, an error cannot change its HTTP status. */
  readonly hasBegun: boolean;
  /** The HTTP status that `fail` sends before the response has begun. */
  statusOf(error: GatewayError): number;
  beginStream(headers: string[]): void;
  /** Returns false while the client is slow. The caller must then wait for `onDrain` before the next write. */
  write(bytes: BytesOrText): boolean;
  endStream(lastBytes: BytesOrText): void;
  /** Sends a whole answer with status 200. The default of `contentType` is JSON. */
  send(bytes: Buffer, headers: string[], contentType?: string): void;
  /** Sets the writer of a translated stream. `fail` may need the writer to format the error. */
  streamWith(writer: StreamWriter): void;
  /** Ends the response with the error in the client's dialect. `headers` count only before the response has begun. */
  fail(error: GatewayError, headers?: string[]): void;
  /** Closes the connection without finishing the answer. */
  abandon(): void;
  onDrain(listener: () => void): void;
};

/** An upstream's answer with status 200, in flight to the client. */
export type Answer = RecordedAnswer & {
  /** Runs when the request has ended, successfully or not. */
  onOver?(): void;
};

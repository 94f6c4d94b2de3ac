import { createParser, type EventSourceMessage } from "eventsource-parser";
import type { Reply } from "../../completions/reply.ts";
import type { BytesOrText } from "../../wire/bytes.ts";
import type { StreamWriter } from "../../dialects/dialect.ts";
import { responses } from "../../dialects/responses/responses.ts";
import type { GatewayError } from "../../errors.ts";
import { errorHeaders, statusOf, toErrorBody, toErrorEvent } from "../error-response.ts";

export type SocketReplyOptions = {
  requestId: string;
  /** The turn's `stream_id`, which each event repeats. Null if the turn has none. */
  streamId: string | null;
  connection: Connection;
  /** Receives the last event of a response that did not fail, as JSON. */
  onFinished(event: string): void;
  /** Runs after the last frame. */
  onOver(isFailed: boolean): void;
};

export type Connection = {
  /** Sends a text frame. Returns false while the client is slow. */
  send(text: string): boolean;
  ping(): void;
  terminate(): void;
};

/** Writes each event of one response as a WebSocket frame. */
export class SocketReply implements Reply {
  readonly #options: SocketReplyOptions;
  readonly #parser = createParser({
    onEvent: (event) => this.#sendEvent(event),
    // Pings are comments in the event stream.
    onComment: () => this.#options.connection.ping(),
  });
  hasBegun = false;
  #isReady = true;
  #streamWriter: StreamWriter | null = null;
  #onDrain: (() => void) | null = null;

  constructor(options: SocketReplyOptions) {
    this.#options = options;
  }

  statusOf(error: GatewayError): number {
    return statusOf(error, responses);
  }

  streamWith(writer: StreamWriter): void {
    this.#streamWriter = writer;
  }

  /** Frames have no headers. */
  beginStream(): void {
    this.hasBegun = true;
  }

  write(bytes: BytesOrText): boolean {
    this.#isReady = true;
    this.#parser.feed((typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes).toString("utf8"));
    return this.#isReady;
  }

  endStream(lastBytes: BytesOrText): void {
    this.write(lastBytes);
    this.#options.onOver(false);
  }

  send(bytes: Buffer): void {
    this.#send(bytes.toString("utf8"));
    this.#options.onOver(false);
  }

  /** Before the first event, an error has OpenAI's WebSocket format, which contains the HTTP status. */
  fail(error: GatewayError, headers: string[] = []): void {
    const { requestId, onOver } = this.#options;
    if (this.hasBegun) {
      this.write(Buffer.from(toErrorEvent(error, responses, requestId, this.#streamWriter)));
    } else {
      const status = this.statusOf(error);
      const body = toErrorBody(error, responses, requestId);
      const all = toObject(["x-request-id", requestId, ...errorHeaders(error), ...headers]);
      this.#send(JSON.stringify({ type: "error", status, ...body, headers: all }));
    }
    onOver(true);
  }

  abandon(): void {
    this.#options.connection.terminate();
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener;
  }

  drained(): void {
    this.#onDrain?.();
  }

  #sendEvent({ event, data }: EventSourceMessage): void {
    this.#send(data);
    if (event === "response.completed" || event === "response.incomplete") this.#options.onFinished(data);
  }

  #send(json: string): void {
    const { streamId, connection } = this.#options;
    const member = streamId === null ? "" : `"stream_id":${JSON.stringify(streamId)},`;
    this.#isReady = connection.send(member === "" ? json : json.replace("{", () => `{${member}`));
  }
}

function toObject(headers: readonly string[]): Record<string, string> {
  const object: Record<string, string> = {};
  for (let index = 0; index < headers.length; index += 2) {
    object[headers[index] ?? ""] = headers[index + 1] ?? "";
  }
  return object;
}

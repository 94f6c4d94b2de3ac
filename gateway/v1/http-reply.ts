import type { ServerResponse } from "node:http";
import type { Reply } from "../completions/reply.ts";
import type { Dialect, StreamWriter } from "../dialects/dialect.ts";
import type { GatewayError } from "../errors.ts";
import { errorHeaders, statusOf, toErrorBody, toErrorEvent } from "./error-response.ts";

/** Writes responses over HTTP. Heads bypass Express, whose ETags and charsets cost time. */
export class HttpReply implements Reply {
  readonly #response: ServerResponse;
  readonly #requestId: string;
  readonly #stallTimeoutMs: number;
  readonly #dialect: Dialect;
  #streamWriter: StreamWriter | null = null;

  /** @param stallTimeoutMs the time that the client may leave the last bytes unread */
  constructor(response: ServerResponse, requestId: string, stallTimeoutMs: number, dialect: Dialect) {
    this.#response = response;
    this.#requestId = requestId;
    this.#stallTimeoutMs = stallTimeoutMs;
    this.#dialect = dialect;
  }

  get hasBegun(): boolean {
    return this.#response.headersSent;
  }

  statusOf(error: GatewayError): number {
    return statusOf(error, this.#dialect);
  }

  streamWith(writer: StreamWriter): void {
    this.#streamWriter = writer;
  }

  beginStream(headers: string[]): void {
    const head = [
      "content-type",
      "text/event-stream; charset=utf-8",
      "cache-control",
      "no-cache",
      // Disables response buffering in nginx and similar proxies.
      "x-accel-buffering",
      "no",
      ...this.#idHeaders(),
      ...headers,
    ];
    this.#response.writeHead(200, head);
  }

  write(bytes: Buffer): boolean {
    return this.#response.write(bytes);
  }

  endStream(lastBytes: Buffer): void {
    this.#end(lastBytes);
  }

  sendJson(bytes: Buffer, headers: string[]): void {
    this.#sendJson(200, bytes, headers);
  }

  fail(error: GatewayError, headers: string[] = []): void {
    if (this.hasBegun) {
      this.#end(Buffer.from(toErrorEvent(error, this.#dialect, this.#requestId, this.#streamWriter)));
      return;
    }
    const body = Buffer.from(JSON.stringify(toErrorBody(error, this.#dialect, this.#requestId)));
    this.#sendJson(this.statusOf(error), body, [...errorHeaders(error), ...headers]);
  }

  abandon(): void {
    this.#response.destroy();
  }

  onDrain(listener: () => void): void {
    this.#response.on("drain", listener);
  }

  #sendJson(status: number, bytes: Buffer, headers: string[]): void {
    const head = [
      "content-type",
      "application/json; charset=utf-8",
      "x-content-type-options",
      "nosniff",
      "content-length",
      String(bytes.length),
      ...this.#idHeaders(),
    ];
    this.#response.writeHead(status, head.concat(headers));
    this.#end(bytes);
  }

  /** Anthropic's SDK reads the ID under Anthropic's header name. */
  #idHeaders(): string[] {
    const own = ["x-request-id", this.#requestId];
    return this.#dialect.endpointName === "messages" ? [...own, "request-id", this.#requestId] : own;
  }

  #end(bytes: Buffer): void {
    // The system's buffers accept this many bytes at once.
    if (bytes.length > systemBufferBytes || this.#response.writableNeedDrain) {
      this.#response.setTimeout(this.#stallTimeoutMs, () => this.abandon());
    }
    // Node joins a Latin-1 string with the head, which saves a write.
    if (bytes.length <= joinedBytesMax) this.#response.end(bytes.toString("latin1"), "latin1");
    else this.#response.end(bytes);
  }
}

const systemBufferBytes = 64 * 1024;
/** Below this size, a copy costs less than a second write. */
const joinedBytesMax = 8 * 1024;

import { createRequire } from "node:module";
import type { EventStreamCodec } from "@smithy/core/event-streams";
import type { EventDecoder, UpstreamEvent } from "../../wire/server-sent-events.ts";

/** Checks a message's length before buffering it. https://smithy.io/2.0/aws/amazon-eventstream.html */
export class AwsEventStreamDecoder implements EventDecoder {
  isTooLong = false;
  readonly #codec = createCodec();
  readonly #eventBytesMax: number;
  /** For the current message, or for the length field while the length is unknown. `#filled` bytes are valid. */
  #message = Buffer.alloc(lengthFieldBytes);
  #filled = 0;

  constructor(eventBytesMax: number) {
    this.#eventBytesMax = eventBytesMax;
  }

  /** Throws for invalid framing and damaged messages. */
  push(bytes: Buffer): UpstreamEvent[] {
    const events: UpstreamEvent[] = [];
    for (let at = 0; at < bytes.length;) {
      const taken = bytes.copy(this.#message, this.#filled, at);
      at += taken;
      this.#filled += taken;
      if (this.#filled < this.#message.length) break;
      if (this.#message.length > lengthFieldBytes) events.push(this.#takeEvent());
      else if (!this.#makeRoom()) break;
    }
    return events;
  }

  #makeRoom(): boolean {
    const length = this.#message.readUInt32BE();
    if (length < messageBytesMin) throw new Error("The AWS event stream message is malformed.");
    this.isTooLong = length > this.#eventBytesMax;
    if (this.isTooLong) return false;
    const message = Buffer.allocUnsafe(length);
    this.#message.copy(message);
    this.#message = message;
    return true;
  }

  #takeEvent(): UpstreamEvent {
    // The codec verifies both checksums.
    const { headers, body } = this.#codec.decode(this.#message);
    this.#message = Buffer.alloc(lengthFieldBytes);
    this.#filled = 0;
    return toEvent(headers, body);
  }
}

/** Loads the codec for the first stream, because it would take a twentieth of the startup time. */
function createCodec(): EventStreamCodec {
  const require = createRequire(import.meta.url);
  const library = require("@smithy/core/event-streams") as typeof import("@smithy/core/event-streams");
  return new library.EventStreamCodec(toText, Buffer.from);
}

type MessageHeaders = ReturnType<EventStreamCodec["decode"]>["headers"];

function toEvent(headers: MessageHeaders, body: Uint8Array): UpstreamEvent {
  const valueOf = (name: string) => String(headers[name]?.value ?? "");
  // An error message has no body.
  if (valueOf(":message-type") === "error") {
    return { name: "unmodeledError", data: JSON.stringify({ message: valueOf(":error-message") }) };
  }
  return { name: valueOf(":event-type") || valueOf(":exception-type"), data: toText(body) };
}

function toText(bytes: Uint8Array | string): string {
  return typeof bytes === "string"
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}

const lengthFieldBytes = 4;

/** The smallest message contains two lengths and two checksums. */
const messageBytesMin = 16;

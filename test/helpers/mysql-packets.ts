import type { Duplex } from "node:stream";

/** Reads MySQL packets: three bytes of length, one of sequence, the payload. */
export class PacketReader {
  readonly #stream: Duplex;
  #bytes = Buffer.alloc(0);
  #waiting: PromiseWithResolvers<void> = Promise.withResolvers();
  #hasEnded = false;

  constructor(stream: Duplex) {
    this.#stream = stream;
    stream.on("data", this.#read);
    stream.on("close", this.#end);
  }

  async next(): Promise<Buffer> {
    while (this.#bytes.length < 4 || this.#bytes.length < 4 + this.#bytes.readUIntLE(0, 3)) {
      if (this.#hasEnded) throw new Error("The connection ended.");
      await this.#waiting.promise;
    }
    const end = 4 + this.#bytes.readUIntLE(0, 3);
    const payload = this.#bytes.subarray(4, end);
    this.#bytes = this.#bytes.subarray(end);
    return payload;
  }

  /** Stops reading and returns unread bytes to the stream. */
  release(): void {
    this.#stream.off("data", this.#read);
    this.#stream.off("close", this.#end);
    this.#stream.pause();
    if (this.#bytes.length > 0) this.#stream.unshift(this.#bytes);
  }

  readonly #read = (chunk: Buffer): void => {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    this.#waiting.resolve();
    this.#waiting = Promise.withResolvers();
  };

  readonly #end = (): void => {
    this.#hasEnded = true;
    this.#waiting.resolve();
  };
}

export function toPacket(sequence: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(4);
  header.writeUIntLE(payload.length, 0, 3);
  header.writeUInt8(sequence, 3);
  return Buffer.concat([header, payload]);
}

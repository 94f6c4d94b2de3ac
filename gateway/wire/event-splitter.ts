/**
 * Cuts a stream at event boundaries. Each byte is scanned once, and a piece that ends at a boundary is not copied.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
export class EventSplitter {
  readonly #bytesMax: number;
  /** Start of an incomplete event. `#length` bytes are in use. */
  #rest: Buffer = Buffer.alloc(0);
  #length = 0;

  /** @param bytesMax limit of an incomplete event */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Whether the incomplete event exceeds its limit. Nothing can be pushed afterwards. */
  get isTooLong(): boolean {
    return this.#length > this.#bytesMax;
  }

  /** Complete events, or null. */
  push(bytes: Buffer): Buffer | null {
    const end = this.#endOfLastEvent(bytes);
    if (end === 0) {
      this.#keep(bytes);
      return null;
    }
    const events =
      this.#length === 0
        ? bytes.subarray(0, end)
        : Buffer.concat([this.#rest.subarray(0, this.#length), bytes.subarray(0, end)]);
    this.#length = 0;
    if (end < bytes.length) this.#keep(bytes.subarray(end));
    return events;
  }

  /**
   * How many bytes belong to complete events. An event ends with an empty line, which may have started in earlier
   * bytes. Lines end with \n or \r\n.
   */
  #endOfLastEvent(bytes: Buffer): number {
    for (
      let at = bytes.lastIndexOf(newline);
      at !== -1;
      at = at === 0 ? -1 : bytes.lastIndexOf(newline, at - 1)
    ) {
      let before = this.#byteAt(bytes, at - 1);
      if (before === carriageReturn) before = this.#byteAt(bytes, at - 2);
      if (before === newline) return at + 1;
    }
    return 0;
  }

  #byteAt(bytes: Buffer, index: number): number | undefined {
    return index >= 0
      ? bytes[index]
      : this.#length + index >= 0
        ? this.#rest[this.#length + index]
        : undefined;
  }

  #keep(bytes: Buffer): void {
    const length = this.#length + bytes.length;
    if (length > this.#rest.length) {
      // Doubles the buffer, so that one-byte chunks stay linear.
      const larger = Buffer.allocUnsafe(length * 2);
      this.#rest.copy(larger, 0, 0, this.#length);
      this.#rest = larger;
    }
    bytes.copy(this.#rest, this.#length);
    this.#length = length;
  }
}

const newline = 0x0a;
const carriageReturn = 0x0d;

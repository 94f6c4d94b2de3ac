/**
 * Cuts a stream of server-sent events into pieces that end where an event ends, whatever the pieces are that the network
 * makes of it. What comes in is only looked at once, and a piece that ends right is passed on as it is.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
export class EventSplitter {
  readonly #bytesMax: number;
  /** The beginning of an event whose end has not come yet; `#length` bytes of it are in use. */
  #rest: Buffer = Buffer.alloc(0);
  #length = 0;

  /** @param bytesMax the longest event that is waited for. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Whether the event that is waited for is longer than it may be; nothing more can be pushed then. */
  get isTooLong(): boolean {
    return this.#length > this.#bytesMax;
  }

  /** Whole events, or null while one is not complete. */
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
   * How many of the bytes belong to complete events. An event ends with an empty line; lines end with \n or \r\n. The
   * empty line may have begun in the bytes before.
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
      // Twice as long as needed, so that an event in one-byte pieces is not copied anew for each of them.
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

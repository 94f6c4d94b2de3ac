/** Bytes as a buffer, or as Latin-1 text with one character per byte. Node sends short text without a copy. */
export type BytesOrText = Buffer | string;

/** Does not copy a single buffer. */
export function concat(buffers: Buffer[]): Buffer {
  const [first] = buffers;
  return first && buffers.length === 1 ? first : Buffer.concat(buffers);
}

/** Joins chunks in one buffer, because a separate buffer for each one-byte chunk takes about 100 bytes. */
export class GrowingBody {
  readonly #lengthMax: number;
  readonly #isReadOnce: boolean;
  #buffer: Buffer = noBytes;
  /** Whether this object allocated the buffer. Otherwise, it is the only chunk so far. */
  #isOwn = false;
  #length = 0;

  /**
   * @param lengthMax limits the bytes that are allocated in advance, not the length
   * @param isReadOnce whether `bytes` is read only once all chunks have arrived. Buffers without a use are then freed
   * at once, because the garbage collector may leave hundreds of megabytes of them.
   */
  constructor(lengthMax: number, isReadOnce = false) {
    this.#lengthMax = lengthMax;
    this.#isReadOnce = isReadOnce;
  }

  get length(): number {
    return this.#length;
  }

  get bytes(): Buffer {
    return this.#length === this.#buffer.length ? this.#buffer : this.#buffer.subarray(0, this.#length);
  }

  append(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    // A single chunk, the usual case, is not copied.
    if (this.#length === 0) this.#buffer = chunk;
    else {
      if (length > this.#buffer.length) this.#grow(length);
      chunk.copy(this.#buffer, this.#length);
    }
    this.#length = length;
  }

  clear(): void {
    this.#replace(noBytes, false);
    this.#length = 0;
  }

  #grow(length: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(length, Math.min(length * 4, this.#lengthMax)));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#replace(larger, true);
  }

  #replace(buffer: Buffer, isOwn: boolean): void {
    const { buffer: memory } = this.#buffer;
    if (this.#isReadOnce && this.#isOwn && memory instanceof ArrayBuffer) memory.transfer(0);
    this.#buffer = buffer;
    this.#isOwn = isOwn;
  }
}

/** https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream */
export class EventSplitter {
  readonly #bytesMax: number;
  #isAtStart = true;
  /** The start of an incomplete event. `#length` bytes are in use. */
  #rest: Buffer = Buffer.alloc(0);
  #length = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Whether the incomplete event exceeds its limit. The caller must then stop. */
  get isTooLong(): boolean {
    return this.#length > this.#bytesMax;
  }

  /** Returns the bytes of complete events, or null if no event is complete. */
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
    return this.#withoutMark(events);
  }

  /**
   * Returns 0 if no event ends in `bytes`. An event ends with an empty line. A line ends with \n or
   * \r\n, and the line break before the empty line may be in `#rest`.
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

  /** Ends the incomplete event, whose last line may lack its line breaks. */
  flush(): Buffer | null {
    if (this.#length === 0) return null;
    const event = Buffer.concat([this.#rest.subarray(0, this.#length), Buffer.from("\n\n")]);
    this.#length = 0;
    return this.#withoutMark(event);
  }

  /** Removes a byte order mark at the start of the stream, as the specification requires. */
  #withoutMark(events: Buffer): Buffer {
    if (!this.#isAtStart) return events;
    this.#isAtStart = false;
    return withoutByteOrderMark(events);
  }

  #keep(bytes: Buffer): void {
    const length = this.#length + bytes.length;
    if (length > this.#rest.length) {
      // The buffer doubles, so that one-byte chunks take linear time.
      const larger = Buffer.allocUnsafe(length * 2);
      this.#rest.copy(larger, 0, 0, this.#length);
      this.#rest = larger;
    }
    bytes.copy(this.#rest, this.#length);
    this.#length = length;
  }
}

export function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** Joins each event's lines of data to one. In JSON, a line break between values is like a space. */
export function joinDataLines(events: Buffer): Buffer {
  const lines: string[] = [];
  for (const line of events.toString("latin1").split("\n")) {
    const last = lines.at(-1);
    if (last?.startsWith(dataField) === true && line.startsWith(dataField))
      lines[lines.length - 1] = `${last.replace(/\r$/, "")} ${line.slice(dataField.length)}`;
    else lines.push(line);
  }
  return Buffer.from(lines.join("\n"), "latin1");
}

const dataField = "data:";

export type Edit = { start: number; end: number; text: string };

/** @param edits must be in order and must not overlap */
export function applyEdits(bytes: Buffer, edits: readonly Edit[]): Buffer {
  return edits.length === 0 ? bytes : Buffer.concat(splitByEdits(bytes, edits));
}

/** Returns the edited bytes in parts, because joining the parts would copy a large request. */
export function splitByEdits(bytes: Buffer, edits: readonly Edit[]): Buffer[] {
  const parts: Buffer[] = [];
  let from = 0;
  for (const { start, end, text } of edits) {
    parts.push(bytes.subarray(from, start), Buffer.from(text));
    from = end;
  }
  parts.push(bytes.subarray(from));
  return parts;
}

/** Serializes the body if `modelRange` is null: the bytes have a known member twice or differ from the body. */
export function spliceModel(
  request: { body: object; bytes: Buffer; modelRange: { start: number; end: number } | null },
  model: string,
): Buffer[] {
  const { bytes, modelRange } = request;
  // Reading `body` may parse the bytes, so only this case reads it.
  if (modelRange === null) return [Buffer.from(JSON.stringify({ ...request.body, model }))];
  return splitByEdits(bytes, [{ ...modelRange, text: JSON.stringify(model) }]);
}

const noBytes: Buffer = Buffer.alloc(0);
const newline = 0x0a;
const carriageReturn = 0x0d;

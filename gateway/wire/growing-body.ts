/** Joins chunks in one buffer: separate one-byte chunks would take a hundred times their size. */
export class GrowingBody {
  readonly #lengthMax: number;
  #buffer = noBytes;
  #length = 0;

  /** @param lengthMax declared or permitted length; allocated only as bytes arrive */
  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax;
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
    this.#buffer = noBytes;
    this.#length = 0;
  }

  #grow(length: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(length, Math.min(length * 4, this.#lengthMax)));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}

const noBytes: Buffer = Buffer.alloc(0);

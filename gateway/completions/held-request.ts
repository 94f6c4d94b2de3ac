/**
 * A request that is parsed again when it is needed again. While an upstream works on a large one, only its bytes are held:
 * the parsed body can take twenty times their size.
 */
export class HeldRequest<Request> {
  readonly #bytes: Buffer;
  readonly #read: (bytes: Buffer) => Request;
  #request: Request | null;

  /** Throws what `read` throws. */
  constructor(bytes: Buffer, read: (bytes: Buffer) => Request) {
    this.#bytes = bytes;
    this.#read = read;
    this.#request = read(bytes);
  }

  get value(): Request {
    return this.#request ?? this.#read(this.#bytes);
  }

  /** The request has been sent, or waits for its turn. */
  letGo(): void {
    if (this.#bytes.length > parsedBytesMax) this.#request = null;
  }
}

/** Up to here, keeping the parsed body costs less than parsing it for an estimate of its tokens. */
const parsedBytesMax = 64 * 1024;

import { isToken } from "./answer-head.ts";
import { brokenRule } from "./upstream-failure.ts";

/**
 * Decodes a chunked body, in any chunking of its bytes. Skips extensions and trailers.
 * https://www.rfc-editor.org/rfc/rfc9112.html#section-7.1
 */
export class ChunkDecoder {
  #state: State = "size";
  /** The size being read, then the remaining bytes of the chunk. */
  #left = 0;
  #digits = 0;
  #skipped = 0;
  #length = 0;

  get isDone(): boolean {
    return this.#state === "done";
  }

  /** Data bytes of the last `decode`. */
  get length(): number {
    return this.#length;
  }

  /** Copies the data to `target`. Returns where it stopped: at the end of the body or of the bytes. */
  decode(bytes: Buffer, from: number, target: Buffer): number {
    let at = from;
    this.#length = 0;
    while (at < bytes.length && this.#state !== "done") {
      if (this.#state !== "data") {
        this.#state = this.#step(this.#state, bytes[at++] as number);
        continue;
      }
      const end = Math.min(at + this.#left, bytes.length);
      this.#length += bytes.copy(target, this.#length, at, end);
      this.#left -= end - at;
      at = end;
      if (this.#left === 0) this.#state = "data CR";
    }
    return at;
  }

  #step(state: State, byte: number): State {
    switch (state) {
      case "size":
        return this.#readSize(byte);
      case "extension":
        return byte === cr ? "size LF" : this.#skip(state, byte);
      case "size LF":
        expect(byte, lf);
        this.#digits = 0;
        this.#skipped = 0;
        return this.#left === 0 ? "trailer" : "data";
      case "data CR":
        expect(byte, cr);
        return "data LF";
      case "data LF":
        expect(byte, lf);
        return "size";
      case "trailer":
        return byte === cr ? "last LF" : this.#skipName(byte);
      case "trailer name":
        return byte === colon ? "trailer value" : this.#skipName(byte);
      case "trailer value":
        return byte === cr ? "trailer LF" : this.#skip(state, byte);
      case "trailer LF":
        expect(byte, lf);
        return "trailer";
      default:
        expect(byte, lf);
        return "done";
    }
  }

  #readSize(byte: number): State {
    const digit = hexDigit(byte);
    if (digit !== -1 && this.#digits < sizeDigitsMax) {
      this.#digits++;
      this.#left = this.#left * 16 + digit;
      return "size";
    }
    if (this.#digits > 0 && byte === cr) return "size LF";
    if (this.#digits > 0 && byte === semicolon) return "extension";
    throw brokenRule("a chunk size is invalid");
  }

  #skipName(byte: number): State {
    if (!isToken(String.fromCharCode(byte))) throw brokenRule("a trailer is malformed");
    return this.#skip("trailer name", byte);
  }

  #skip(state: State, byte: number): State {
    const isControl = (byte < 0x20 && byte !== tab) || byte === 0x7f;
    if (isControl || ++this.#skipped > skippedBytesMax)
      throw brokenRule("its chunk extensions or trailers are too long");
    return state;
  }
}

/** The element expected next. */
type State =
  | "size"
  | "extension"
  | "size LF"
  | "data"
  | "data CR"
  | "data LF"
  | "trailer"
  | "trailer name"
  | "trailer value"
  | "trailer LF"
  | "last LF"
  | "done";

function expect(byte: number, expected: number): void {
  if (byte !== expected) throw brokenRule("a chunk has no valid end");
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

const tab = 0x09;
const lf = 0x0a;
const cr = 0x0d;
const colon = 0x3a;
const semicolon = 0x3b;
/** Keeps sizes below 2^48, which a number holds exactly. */
const sizeDigitsMax = 12;
/** Bounds the extensions of one chunk, and all trailers together. */
const skippedBytesMax = 16 * 1024;

import { GrowingBody } from "../wire/bytes.ts";
import { brokenOff, brokenRule } from "./upstream-failure.ts";
import type { UpstreamHeaders } from "./upstream-call.ts";
import type { Settings } from "../config/variables.ts";

/** Reads one answer from a connection's bytes, which may arrive in parts of any size. */
export class AnswerReader {
  readonly #limits: HttpLimits;
  #head: AnswerHead | null = null;
  #isHeadTaken = false;
  /** Bytes of an incomplete head. */
  #kept = new GrowingBody(0);
  /** The total length of the complete heads, 1xx heads included. */
  #skippedBytes = 0;
  #left = 0;
  /** Body bytes of the current push. */
  #body = noBytes;
  #chunks: ChunkDecoder | null = null;
  #framingBytes = 0;
  isComplete = false;
  problem: Error | null = null;
  #hasSurplus = false;

  constructor(limits: HttpLimits) {
    this.#limits = limits;
  }

  get keepAliveMs(): number {
    return this.#hasSurplus ? 0 : (this.#head?.keepAliveMs ?? 0);
  }

  /** Returns the head once after its arrival, otherwise null. */
  takeHead(): AnswerHead | null {
    if (this.#isHeadTaken || this.#head === null) return null;
    this.#isHeadTaken = true;
    return this.#head;
  }

  /** Returns a copy of the body bytes in `bytes`, because the caller reuses its buffer. */
  push(bytes: Buffer): Buffer {
    this.#body = noBytes;
    try {
      this.#read(bytes);
    } catch (error) {
      this.problem = error as Error;
    }
    return this.#body;
  }

  end(): void {
    if (this.#head?.end === "close") this.isComplete = true;
    else this.problem = brokenOff();
  }

  #read(arrived: Buffer): void {
    let bytes = arrived;
    let at = 0;
    if (this.#head === null) {
      if (this.#kept.length > 0) {
        this.#kept.append(arrived);
        bytes = this.#kept.bytes;
      }
      at = this.#readHeads(bytes, bytes.length - arrived.length);
    }
    if (this.#head !== null && !this.isComplete) at = this.#readBody(bytes, at);
    this.#hasSurplus = at < bytes.length;
  }

  /**
   * Returns the offset of the body. Keeps the bytes of an incomplete head and then returns `Infinity`.
   * @param from the offset of the first new byte
   */
  #readHeads(bytes: Buffer, from: number): number {
    let at = 0;
    // The empty line may have started in earlier bytes.
    let searchedFrom = Math.max(from - emptyLine.length + 1, 0);
    for (;;) {
      const end = bytes.indexOf(emptyLine, searchedFrom);
      if (end === -1) return this.#keep(bytes, at, from);
      this.#skippedBytes += end - at;
      if (this.#skippedBytes > this.#limits.upstreamHeadBytesMax) throw tooLong();
      const head = parseAnswerHead(bytes.toString("latin1", at, end), this.#limits);
      at = end + emptyLine.length;
      searchedFrom = at;
      if (head.status >= 200) return this.#beginBody(head, at);
    }
  }

  #keep(bytes: Buffer, at: number, from: number): number {
    const rest = bytes.subarray(at);
    // The last three bytes may belong to the empty line, which the limit excludes.
    const bytesMax = this.#limits.upstreamHeadBytesMax + emptyLine.length - 1;
    if (this.#skippedBytes + rest.length > bytesMax) throw tooLong();
    if (!canBecomeHead(rest, Math.max(from - at, 0)))
      throw brokenRule("it does not start with a status line");
    if (this.#kept.length !== rest.length) {
      this.#kept = new GrowingBody(bytesMax);
      this.#kept.append(Buffer.from(rest));
    }
    return Infinity;
  }

  #beginBody(head: AnswerHead, at: number): number {
    this.#head = head;
    this.#kept.clear();
    if (head.end === "chunked") this.#chunks = new ChunkDecoder();
    else this.#left = head.end === "close" ? Infinity : head.end;
    return at;
  }

  #readBody(bytes: Buffer, from: number): number {
    if (this.#chunks !== null) return this.#readChunks(this.#chunks, bytes, from);
    const to = Math.min(from + this.#left, bytes.length);
    if (to > from) this.#body = Buffer.from(bytes.subarray(from, to));
    this.#left -= to - from;
    this.isComplete = this.#left === 0;
    return to;
  }

  #readChunks(chunks: ChunkDecoder, bytes: Buffer, from: number): number {
    try {
      const at = chunks.decode(bytes, from);
      this.isComplete = chunks.isDone;
      this.#framingBytes += at - from - chunks.length;
      if (this.#framingBytes > this.#limits.upstreamAnswerBytesMax)
        throw brokenRule("its chunks are too small");
      return at;
    } finally {
      // Data that precedes a malformed chunk is delivered.
      const { start, length } = chunks;
      if (length > 0) {
        this.#body = Buffer.allocUnsafe(length);
        bytes.copy(this.#body, 0, start, start + length);
      }
    }
  }
}

/** @param from the offset of the first unchecked byte */
function canBecomeHead(bytes: Buffer, from: number): boolean {
  for (let at = bytes.indexOf("\n", from); at !== -1; at = bytes.indexOf("\n", at + 1)) {
    if (bytes[at - 1] !== cr) return false;
  }
  return version.startsWith(bytes.toString("latin1", 0, version.length));
}

function tooLong(): Error {
  return brokenRule("its head is too long");
}

const noBytes: Buffer = Buffer.alloc(0);
const emptyLine = Buffer.from("\r\n\r\n");
const version = "HTTP/1.";

type AnswerHead = {
  status: number;
  /** Names in lower case. */
  headers: UpstreamHeaders;
  /** The body's length in bytes. Without a length, the last chunk or the connection's close ends the body. */
  end: number | "chunked" | "close";
  /** The maximum idle time of the connection after this answer. 0 forbids reuse. */
  keepAliveMs: number;
};

/**
 * Parses strictly, because a misread length would mix up two answers.
 * @param text the status line and the fields, without the final empty line, with one character per byte
 * https://www.rfc-editor.org/rfc/rfc9112.html#section-6.3
 */
export function parseAnswerHead(text: string, limits: HttpLimits): AnswerHead {
  if (forbidden.test(text)) throw brokenRule("its head contains a control character");
  const [statusLine = "", ...lines] = text.split("\r\n");
  const [, minorVersion, digits] = statusLineForm.exec(statusLine) ?? [];
  if (digits === undefined) throw brokenRule("its status line is invalid");
  const status = Number(digits);
  if (status === 101) throw brokenRule("it switches to another protocol");
  if (lines.length > limits.upstreamHeadFieldsMax) throw brokenRule("its head has too many fields");
  const headers = parseFields(lines);
  const isOld = minorVersion === "0";
  const announced = announcedEnd(headers, isOld);
  const hasNoBody = status === 204 || status === 304;
  // Upstreams that announce a body may send it even where HTTP forbids one.
  const isLast = hasNoBody ? announced !== 0 && announced !== "close" : announced === "close";
  return {
    status,
    headers,
    end: hasNoBody ? 0 : announced,
    keepAliveMs: isLast ? 0 : keepAliveMs(headers, isOld, limits.upstreamKeepAliveTimeoutMs),
  };
}

function parseFields(lines: string[]): UpstreamHeaders {
  // An upstream can send a header named `__proto__`.
  const headers: UpstreamHeaders = Object.create(null);
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    if (!isToken(name)) throw brokenRule("its head contains a malformed field");
    const value = trimSpace(line, colon + 1);
    const before = headers[name];
    if (before === undefined) headers[name] = value;
    else if (typeof before === "string") headers[name] = [before, value];
    else before.push(value);
  }
  return headers;
}

/** Removes spaces and tabs only: `trim` removes more than HTTP allows. */
function trimSpace(line: string, from: number): string {
  let [start, end] = [from, line.length];
  while (isSpace(line.charCodeAt(start))) start++;
  while (end > start && isSpace(line.charCodeAt(end - 1))) end--;
  return line.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function announcedEnd(headers: UpstreamHeaders, isOld: boolean): AnswerHead["end"] {
  const encoding = headers["transfer-encoding"];
  const length = headers["content-length"];
  if (encoding !== undefined) {
    if (length !== undefined || isOld) throw brokenRule("it must not be chunked");
    if (String(encoding).toLowerCase() !== "chunked")
      throw brokenRule("its transfer-encoding is unsupported");
    return "chunked";
  }
  if (length === undefined) return "close";
  const [, digits] = lengthForm.exec(String(length)) ?? [];
  if (digits === undefined) throw brokenRule("invalid Content-Length");
  return Number(digits);
}

function keepAliveMs(headers: UpstreamHeaders, isOld: boolean, msMax: number): number {
  const { connection } = headers;
  if (isOld || connection !== undefined) {
    const options = String(connection)
      .toLowerCase()
      .split(",")
      .map((option) => trimSpace(option, 0));
    if (options.includes("close") || (isOld && !options.includes("keep-alive"))) return 0;
  }
  const [, seconds] = /(?:^|[,; \t])timeout=(\d{1,6})/i.exec(String(headers["keep-alive"] ?? "")) ?? [];
  if (seconds === undefined) return msMax;
  return Math.min(Math.max(Number(seconds) * 1000 - marginMs, 0), msMax);
}

// Some servers omit the space after the status code if no phrase follows.
const statusLineForm = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?$/;
// oxlint-disable-next-line no-control-regex
const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|(?<!\r)\n/;
/** Repeated lengths must be identical. */
const lengthForm = /^(\d{1,15})(?:[ \t]*,[ \t]*\1)*$/;

/** The upstream starts its idle timer before the gateway receives the answer. */
const marginMs = 2_000;

/** Whether the text is a valid header name: https://www.rfc-editor.org/rfc/rfc9110.html#section-5.6.2 */
export function isToken(text: string): boolean {
  return /^[!#$%&'*+\-.^_`|~\da-z]+$/i.test(text);
}

/**
 * Decodes a chunked body in place. `decode` accepts parts of any size. Skips extensions and trailers.
 * https://www.rfc-editor.org/rfc/rfc9112.html#section-7.1
 */
class ChunkDecoder {
  #state: State = "size";
  /** The size so far, then the remaining bytes of the chunk. */
  #left = 0;
  #digits = 0;
  #skipped = 0;
  /** Where the last `decode` left the data, and the number of its bytes. */
  start = 0;
  length = 0;

  get isDone(): boolean {
    return this.#state === "done";
  }

  /**
   * Moves the data of further chunks after that of the first, so that a copy has no framing. Returns the offset after
   * the body, or `bytes.length` if the body continues.
   */
  decode(bytes: Buffer, from: number): number {
    let at = from;
    this.length = 0;
    while (at < bytes.length && this.#state !== "done") {
      if (this.#state !== "data") {
        this.#state = this.#step(this.#state, bytes[at++] as number);
        continue;
      }
      const end = Math.min(at + this.#left, bytes.length);
      if (this.length === 0) this.start = at;
      else bytes.copy(bytes, this.start + this.length, at, end);
      this.length += end - at;
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

export type HttpLimits = Pick<
  Settings,
  | "upstreamConnectionsMax"
  | "upstreamQueuedCallsMax"
  | "upstreamKeepAliveTimeoutMs"
  | "upstreamHeadBytesMax"
  | "upstreamAnswerBytesMax"
  | "upstreamHeadFieldsMax"
>;

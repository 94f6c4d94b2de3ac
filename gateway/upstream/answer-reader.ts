import { type AnswerHead, parseAnswerHead, ChunkDecoder } from "./answer-framing.ts";
import { GrowingBody } from "../wire/bytes.ts";
import type { HttpLimits } from "./http-limits.ts";
import { brokenOff, brokenRule } from "./upstream-failure.ts";

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
  #isComplete = false;
  #hasSurplus = false;
  #problem: Error | null = null;

  constructor(limits: HttpLimits) {
    this.#limits = limits;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  get problem(): Error | null {
    return this.#problem;
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
      this.#problem = error as Error;
    }
    return this.#body;
  }

  end(): void {
    if (this.#head?.end === "close") this.#isComplete = true;
    else this.#problem = brokenOff();
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
    if (this.#head !== null && !this.#isComplete) at = this.#readBody(bytes, at);
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
    this.#isComplete = this.#left === 0;
    return to;
  }

  #readChunks(chunks: ChunkDecoder, bytes: Buffer, from: number): number {
    const target = Buffer.allocUnsafe(bytes.length - from);
    try {
      const at = chunks.decode(bytes, from, target);
      this.#isComplete = chunks.isDone;
      this.#framingBytes += at - from - chunks.length;
      if (this.#framingBytes > this.#limits.upstreamAnswerBytesMax)
        throw brokenRule("its chunks are too small");
      return at;
    } finally {
      // Data that precedes a malformed chunk is delivered.
      const body = target.subarray(0, chunks.length);
      // A small slice would keep the whole target in memory.
      this.#body = body.length < target.length / 2 ? Buffer.from(body) : body;
    }
  }
}

/** @param from the offset of the first unchecked byte */
function canBecomeHead(bytes: Buffer, from: number): boolean {
  for (let at = bytes.indexOf("\n", from); at !== -1; at = bytes.indexOf("\n", at + 1)) {
    if (bytes[at - 1] !== carriageReturn) return false;
  }
  return version.startsWith(bytes.toString("latin1", 0, version.length));
}

function tooLong(): Error {
  return brokenRule("its head is too long");
}

const noBytes: Buffer = Buffer.alloc(0);
const emptyLine = Buffer.from("\r\n\r\n");
const version = "HTTP/1.";
const carriageReturn = 0x0d;

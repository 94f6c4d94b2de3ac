import { type AnswerHead, canBecomeHead, parseAnswerHead } from "./answer-head.ts";
import { ChunkDecoder } from "./chunk-decoder.ts";
import { GrowingBody } from "../wire/growing-body.ts";
import type { HttpLimits } from "./http-limits.ts";
import { brokenOff, brokenRule } from "./upstream-failure.ts";

/** Reads one answer from the bytes of a connection, however they are cut. */
export class AnswerReader {
  readonly #limits: HttpLimits;
  #head: AnswerHead | null = null;
  #isHeadTaken = false;
  /** What has come of a head that is not whole. */
  #kept = new GrowingBody(0);
  /** What came of provisional heads before it. */
  #skippedBytes = 0;
  #left = 0;
  /** What has come of the body just now. */
  #body = noBytes;
  #chunks: ChunkDecoder | null = null;
  /** What came of the body that is none of its data. */
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

  /** Why it cannot become complete any more. */
  get problem(): Error | null {
    return this.#problem;
  }

  /** How long the connection may lie idle after it; 0 where it must not be used again. */
  get keepAliveMs(): number {
    return this.#hasSurplus ? 0 : (this.#head?.keepAliveMs ?? 0);
  }

  /** The head, once: when it has come. */
  takeHead(): AnswerHead | null {
    if (this.#isHeadTaken || this.#head === null) return null;
    this.#isHeadTaken = true;
    return this.#head;
  }

  /** Returns what belongs to the body, as a copy; may be empty. */
  push(bytes: Buffer): Buffer {
    this.#body = noBytes;
    try {
      this.#read(bytes);
    } catch (error) {
      this.#problem = error as Error;
    }
    return this.#body;
  }

  /** The connection has ended. */
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
   * Returns where the body begins, if the head is whole.
   * @param from where the bytes begin that have just arrived
   */
  #readHeads(bytes: Buffer, from: number): number {
    let at = 0;
    // The empty line may have begun in the bytes before.
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
    // The last three bytes may be the beginning of its end.
    const bytesMax = this.#limits.upstreamHeadBytesMax + emptyLine.length - 1;
    if (this.#skippedBytes + rest.length > bytesMax) throw tooLong();
    if (!canBecomeHead(rest, Math.max(from - at, 0))) throw brokenRule("it does not begin like an answer");
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
      // What came before a chunk that is none is told as well.
      const body = target.subarray(0, chunks.length);
      // A small piece would keep all of the target in memory.
      this.#body = body.length < target.length / 2 ? Buffer.from(body) : body;
    }
  }
}

function tooLong(): Error {
  return brokenRule("its head is too long");
}

const noBytes: Buffer = Buffer.alloc(0);
const emptyLine = Buffer.from("\r\n\r\n");

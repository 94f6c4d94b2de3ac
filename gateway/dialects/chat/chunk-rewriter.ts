import { readChatUsage, type TokenUsage } from "../../wire/token-usage.ts";
import type { GatewayError } from "../../errors.ts";
import { toAnswerError, badAnswer, withoutChoices } from "../../wire/bad-answer.ts";
import { joinDataLines } from "../../wire/bytes.ts";
import { countFinished, isFinishReason } from "../../wire/chat-completion.ts";
import { isKey, parseShortJson, scanMembers } from "../../wire/json.ts";
import type { OutputMeter, NativePiece, NativeReader } from "../dialect.ts";
import { findReportedError, reportedError } from "../../wire/reported-error.ts";

export type RewrittenChunks = {
  /** The bytes for the client, up to the end of the stream, as Latin-1 text. May be empty. */
  text: string;
  usage: TokenUsage | null;
  /** The end of the stream: `[DONE]`, an error, a failed choice or an invalid chunk. Null if the stream continues. */
  ending:
    | { kind: "done" }
    | { kind: "error"; payload: Buffer }
    | { kind: "failure"; error: GatewayError }
    | { kind: "garbage" }
    | null;
};

type ChunkRewriterOptions = {
  slug: string;
  includeUsage: boolean;
  /** The number of choices that a complete stream finishes. */
  choicesMin: number;
  meter: OutputMeter;
};

/**
 * Sets the slug as the model of each chat completion chunk, and removes an unrequested usage chunk. Most chunks
 * start like an earlier chunk and are not parsed.
 */
export class ChunkRewriter implements NativeReader {
  readonly #modelJson: string;
  readonly #includeUsage: boolean;
  readonly #choicesMin: number;
  readonly #meter: OutputMeter;
  #hasChoice = false;
  #finishedCount = 0;
  /** The start of an earlier chunk's line, up to the end of the value of `model`. */
  #head = "";
  /** The position of that value, with its quotes. */
  #modelAt = 0;
  /** The last chunk with both choices and usage, until a chunk with usage alone arrives. */
  #mixedChunk: Buffer | null = null;

  constructor({ slug, includeUsage, choicesMin, meter }: ChunkRewriterOptions) {
    this.#modelJson = JSON.stringify(slug);
    this.#includeUsage = includeUsage;
    this.#choicesMin = choicesMin;
    this.#meter = meter;
  }

  /** Whether every choice has its finish reason. */
  get isFinished(): boolean {
    return this.#finishedCount >= this.#choicesMin;
  }

  read(events: Buffer): NativePiece {
    const { text, usage, ending } = this.rewrite(events);
    if (ending === null) return { bytes: text, usage, ending };
    if (ending.kind === "done") {
      if (!this.#hasChoice) return { bytes: text, usage, ending: withoutChoices() };
      return { bytes: text + this.#lastEvents(), usage, ending: "done" };
    }
    if (ending.kind === "failure") return { bytes: text, usage, ending: ending.error };
    const error =
      ending.kind === "error" ? readError(ending.payload) : badAnswer("not made of chat completion chunks");
    return { bytes: text, usage, ending: error };
  }

  /** Some upstreams omit `[DONE]`. */
  end(): NativePiece | null {
    return this.isFinished ? { bytes: this.#lastEvents(), usage: null, ending: "done" } : null;
  }

  /** Some upstreams send the usage only with their last choices, although the client requested a usage chunk. */
  #lastEvents(): string {
    const chunk = this.#includeUsage && this.#mixedChunk ? this.#toUsageChunk(this.#mixedChunk) : "";
    return `${chunk}data: [DONE]\n\n`;
  }

  /** Returns the event as Latin-1 text. */
  #toUsageChunk(chunk: Buffer): string {
    const members = [`"model":${this.#modelJson}`, '"choices":[]'];
    // The chunk is not parsed, because some upstreams write invalid JSON, such as a log probability of -Infinity.
    scanMembers(chunk, 0, chunk.length, Infinity, (keyStart, keyEnd, start, end) => {
      const name = repeatedNames.find((each) => isKey(chunk, keyStart, keyEnd, each));
      if (name !== undefined) members.push(`"${name}":${chunk.toString("utf8", start, end)}`);
    });
    return Buffer.from(`data: {${members.join(",")}}\n\n`).toString("latin1");
  }

  /** @param events complete server-sent events */
  rewrite(events: Buffer): RewrittenChunks {
    // In Latin-1, each character is one byte, so positions match. Text is faster to search than bytes.
    const text = events.toString("latin1");
    let moreAt = findMore(text, 0);
    let output = "";
    let copied = 0;
    /** The end of the previous event or data line. */
    let eventStart = 0;
    let usage: TokenUsage | null = null;
    const copyTo = (end: number, continueAt: number) => {
      output += text.slice(copied, end);
      copied = continueAt;
    };
    for (let line = 0, next = 0; line < text.length; line = next) {
      next = text.indexOf("\n", line) + 1 || text.length;
      if (moreAt < line) moreAt = findMore(text, line);
      this.#hasChoice ||= text.startsWith("data:", line) && choice.test(text.slice(line, next));
      const mayHoldMore = moreAt < next || !this.#hasChoice;
      const holdsOnlyAnEnd =
        mayHoldMore &&
        this.#hasChoice &&
        isFinishReasonAt(text, moreAt) &&
        findMore(text, moreAt + 1) >= next;
      if ((!mayHoldMore || holdsOnlyAnEnd) && this.#isLikeTheLast(text, line, next)) {
        if (holdsOnlyAnEnd) this.#finishedCount++;
        copyTo(line + this.#modelAt, line + this.#head.length);
        output += this.#modelJson;
        this.#meter.read(text, line, next);
        eventStart = next;
        continue;
      }
      const start = dataStart(text, line);
      if (start === -1) {
        if (isEmptyLine(text, line)) eventStart = next;
        continue;
      }
      const chunk = readChunk(events, start, next, mayHoldMore);
      if (chunk.kind === "garbage" && text.startsWith("data:", next)) {
        // The event has several lines of data. Joined, none has.
        copyTo(eventStart, text.length);
        const rest = this.rewrite(joinDataLines(events.subarray(eventStart)));
        return { ...rest, text: output + rest.text, usage: rest.usage ?? usage };
      }
      if (chunk.kind !== "chunk") {
        // The whole event is removed, because its name and ID would apply to the gateway's own event.
        copyTo(eventStart, text.length);
        const ending =
          chunk.kind === "error"
            ? { kind: chunk.kind, payload: events.subarray(start, next) }
            : { kind: chunk.kind };
        return { text: output, usage, ending };
      }
      if (chunk.failure !== null) {
        copyTo(eventStart, text.length);
        return {
          text: output,
          usage: chunk.usage ?? usage,
          ending: { kind: "failure", error: chunk.failure },
        };
      }
      this.#meter.read(text, line, next);
      this.#hasChoice ||= chunk.hasChoice;
      this.#finishedCount += chunk.finishedCount;
      usage = chunk.usage ?? usage;
      if (chunk.usage) this.#mixedChunk = chunk.isEmpty ? null : Buffer.from(events.subarray(start, next));
      if (chunk.usage && chunk.isEmpty && !this.#includeUsage) {
        if (isEmptyLine(text, next)) next = text.indexOf("\n", next) + 1;
        copyTo(eventStart, next);
      } else if (chunk.modelStart === -1) {
        copyTo(start + 1, start + 1);
        output += `"model":${this.#modelJson}${chunk.hasMembers ? "," : ""}`;
      } else {
        copyTo(chunk.modelStart, chunk.modelEnd);
        output += this.#modelJson;
        this.#remember(events, line, chunk);
      }
      eventStart = next;
    }
    return { text: output + text.slice(copied), usage, ending: null };
  }

  /** Compares a slice, which takes a quarter of the time of `startsWith`. */
  #isLikeTheLast(text: string, line: number, next: number): boolean {
    const end = line + this.#head.length;
    return end > line && end < next && text.slice(line, end) === this.#head && endsObject(text, next);
  }

  /** Copies the head from the bytes, because a slice of the text would keep the whole text in memory. */
  #remember(events: Buffer, line: number, { modelStart, modelEnd }: Chunk): void {
    // Without a closing quote, a number would also match the start of a longer number.
    if (events[modelStart] !== quote) return;
    this.#head = events.toString("latin1", line, modelEnd);
    this.#modelAt = modelStart - line;
  }
}

type Chunk = {
  kind: "chunk" | "done" | "error" | "garbage";
  modelStart: number;
  modelEnd: number;
  hasMembers: boolean;
  usage: TokenUsage | null;
  isEmpty: boolean;
  hasChoice: boolean;
  finishedCount: number;
  /** The meaning of a finish reason that is a failure or unknown. */
  failure: GatewayError | null;
};

function readChunk(events: Buffer, start: number, end: number, mayHoldMore: boolean): Chunk {
  const chunk: Chunk = {
    kind: "chunk",
    modelStart: -1,
    modelEnd: -1,
    hasMembers: false,
    usage: null,
    isEmpty: false,
    hasChoice: false,
    finishedCount: 0,
    failure: null,
  };
  let usage: unknown = null;
  let serviceTier: unknown = null;
  const text = events.toString("latin1", start, end);
  if (!text.startsWith("{")) {
    chunk.kind = text.trimEnd() === "[DONE]" ? "done" : "garbage";
    return chunk;
  }
  const result = scanMembers(events, start, end, Infinity, (keyStart, keyEnd, valueStart, valueEnd) => {
    chunk.hasMembers = true;
    if (isKey(events, keyStart, keyEnd, "model")) {
      chunk.modelStart = valueStart;
      chunk.modelEnd = valueEnd;
      return mayHoldMore;
    }
    if (
      isKey(events, keyStart, keyEnd, "error") &&
      events.toString("latin1", valueStart, valueEnd) !== "null"
    ) {
      chunk.kind = "error";
      return false;
    }
    if (isKey(events, keyStart, keyEnd, "usage")) usage = parseShortJson(events, valueStart, valueEnd);
    // Some upstreams write the tier in every chunk, but the tier matters only with usage.
    if (mayHoldMore && isKey(events, keyStart, keyEnd, "service_tier")) {
      serviceTier = parseShortJson(events, valueStart, valueEnd);
    }
    if (isKey(events, keyStart, keyEnd, "choices")) {
      const choices = events.toString("latin1", valueStart, valueEnd);
      chunk.isEmpty = /^\[\s*\]$/.test(choices);
      chunk.hasChoice = choices.startsWith("[") && !chunk.isEmpty;
      try {
        chunk.finishedCount = countFinished(choices);
      } catch (error) {
        chunk.failure = toAnswerError(error);
      }
    }
    return true;
  });
  chunk.usage = readChatUsage(usage, serviceTier);
  // The scan may stop early, so the end of the chunk shows whether it is truncated.
  if (result === "not an object" || !endsObject(text, text.length)) chunk.kind = "garbage";
  return chunk;
}

/**
 * Finds usage, an error or a finish reason, as a position within its key. Returns `Infinity` without a match. Skips
 * `"usage": null`, which OpenAI sends in most chunks.
 */
function findMore(text: string, from: number): number {
  more.lastIndex = from;
  return more.exec(text)?.index ?? Infinity;
}

/**
 * Also matches an escaped letter, which may belong to a key. Letters are rarer than quotes, so a search that starts
 * with letters takes half the time.
 */
const more =
  /(?:usage|error|_reason)"\s*:\s*(?!null\b|\s|"")(?<="(?:usage|error|finish_reason)"\s*:\s*)|\\u00[67]/g;

/** Whether `findMore` has found a finish reason that is no failure, as at the end of most streams. */
function isFinishReasonAt(text: string, at: number): boolean {
  finishReason.lastIndex = at;
  return isFinishReason(finishReason.exec(text)?.[1] ?? "");
}

const finishReason = /_reason"\s*:\s*"(\w+)"/y;

/** A choice in the form of most chunks. Otherwise, the chunk is scanned. */
const choice = /"choices"\s*:\s*\[\s*\{/;

/** Returns the position of the line's data, or -1 for a line without data. */
function dataStart(text: string, line: number): number {
  if (!text.startsWith("data:", line)) return -1;
  let at = line + "data:".length;
  while (text[at] === " ") at++;
  return text[at] === "\n" || text[at] === "\r" ? -1 : at;
}

function isEmptyLine(text: string, line: number): boolean {
  return text.startsWith("\n", line) || text.startsWith("\r\n", line);
}

/** Whether a closing brace is the last non-space character of the line that ends before `next`. */
function endsObject(text: string, next: number): boolean {
  let at = next - 1;
  while (at >= 0 && text.charCodeAt(at) <= 0x20) at--;
  return text[at] === "}";
}

const repeatedNames = ["id", "object", "created", "usage"];

const quote = 0x22;

function readError(payload: Buffer): GatewayError {
  const body = parseShortJson(payload, 0, payload.length);
  return findReportedError(body, "mid-stream") ?? reportedError(null, "mid-stream");
}

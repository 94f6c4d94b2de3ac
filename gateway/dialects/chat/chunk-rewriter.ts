import { readTokenUsage, type TokenUsage } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import { isKey, scanMembers } from "../../wire/json-layout.ts";
import type { OutputMeter } from "../dialect.ts";

/** What a piece of an upstream's stream comes to. */
export type RewrittenChunks = {
  /** What the client gets, up to whatever ended the stream; may be empty. */
  bytes: Buffer;
  usage: TokenUsage | null;
  /** Whether this piece ended the stream: by `[DONE]`, by reporting an error (its data), or by being no chunk at all. */
  ending: { kind: "done" } | { kind: "error"; payload: Buffer } | { kind: "garbage" } | null;
};

type ChunkRewriterOptions = {
  slug: string;
  /** Whether the client asked for the chunk with the usage; else it is for the gateway only. */
  includeUsage: boolean;
  meter: OutputMeter;
};

/**
 * Rewrites the chat completion chunks of one stream where they stand: the slug for the upstream's name of the model,
 * nothing for the usage that the client did not ask for. All else, comments included, stays as it came. No chunk is parsed
 * but the one with the usage. Most are not even walked: the bytes up to the model are the same in every chunk of a stream,
 * so they are compared with those of the chunk before.
 */
export class ChunkRewriter {
  readonly #modelJson: string;
  readonly #includeUsage: boolean;
  readonly #meter: OutputMeter;
  /** A chunk's line up to its `model`, and from there to the end of the model. */
  #head = "";
  #model = "";

  /** The last chunk that had both choices and usage, while no other has come with the usage alone. */
  #mixedChunk: Buffer | null = null;

  constructor({ slug, includeUsage, meter }: ChunkRewriterOptions) {
    this.#modelJson = JSON.stringify(slug);
    this.#includeUsage = includeUsage;
    this.#meter = meter;
  }

  /** The chunk with the usage that the client asked for, in JSON, where the upstream has sent none; else null. */
  missingUsageChunk(): string | null {
    if (!this.#includeUsage || this.#mixedChunk === null) return null;
    const chunk = this.#mixedChunk;
    const members = [`"model":${this.#modelJson}`, '"choices":[]'];
    // As they were written: the rest of the chunk may be no JSON at all, such as a probability of -Infinity.
    scanMembers(chunk, 0, chunk.length, Infinity, (keyStart, keyEnd, start, end) => {
      const name = repeatedNames.find((each) => isKey(chunk, keyStart, keyEnd, each));
      if (name !== undefined) members.push(`"${name}":${chunk.toString("utf8", start, end)}`);
    });
    return `{${members.join(",")}}`;
  }

  /** @param events complete server-sent events; each event's data is one line, as OpenAI and its imitators write it. */
  rewrite(events: Buffer): RewrittenChunks {
    // One character a byte: positions in the text are positions in the bytes, and all of this is faster on text.
    const text = events.toString("latin1");
    let moreAt = findUsageOrError(text, 0);
    let output = "";
    let copied = 0;
    /** Where what belongs to the data line begins: the event, or what follows its data line before. */
    let eventStart = 0;
    let usage: TokenUsage | null = null;
    const copyTo = (end: number, continueAt: number) => {
      output += text.slice(copied, end);
      copied = continueAt;
    };
    for (let line = 0, next = 0; line < text.length; line = next) {
      next = text.indexOf("\n", line) + 1 || text.length;
      if (moreAt < line) moreAt = findUsageOrError(text, line);
      const mayHoldMore = moreAt < next;
      if (!mayHoldMore && this.#isLikeTheLast(text, line, next)) {
        const modelStart = line + this.#head.length;
        copyTo(modelStart, modelStart + this.#model.length);
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
      if (chunk.kind !== "chunk") {
        // The whole event goes, with its name and id, or the next one would take them.
        copyTo(eventStart, text.length);
        const ending =
          chunk.kind === "error"
            ? { kind: chunk.kind, payload: events.subarray(start, next) }
            : { kind: chunk.kind };
        return { bytes: Buffer.from(output, "latin1"), usage, ending };
      }
      this.#meter.read(text, line, next);
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
    return {
      bytes: copied === 0 ? events : Buffer.from(output + text.slice(copied), "latin1"),
      usage,
      ending: null,
    };
  }

  #isLikeTheLast(text: string, line: number, next: number): boolean {
    return (
      this.#model !== "" &&
      text.startsWith(this.#head, line) &&
      text.startsWith(this.#model, line + this.#head.length) &&
      endsObject(text, next)
    );
  }

  /** Read from the bytes anew: a slice of the text would keep all of it alive. */
  #remember(events: Buffer, line: number, { modelStart, modelEnd }: Chunk): void {
    // Only text has an end of its own: 1 is also how 12 begins.
    if (events[modelStart] !== quote) return;
    this.#head = events.toString("latin1", line, modelStart);
    this.#model = events.toString("latin1", modelStart, modelEnd);
  }
}

type Chunk = {
  kind: "chunk" | "done" | "error" | "garbage";
  modelStart: number;
  modelEnd: number;
  hasMembers: boolean;
  usage: TokenUsage | null;
  /** Whether it has no choices. */
  isEmpty: boolean;
};

function readChunk(events: Buffer, start: number, end: number, mayHoldMore: boolean): Chunk {
  const chunk: Chunk = {
    kind: "chunk",
    modelStart: -1,
    modelEnd: -1,
    hasMembers: false,
    usage: null,
    isEmpty: false,
  };
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
    if (isKey(events, keyStart, keyEnd, "usage")) chunk.usage = parseUsage(events, valueStart, valueEnd);
    if (isKey(events, keyStart, keyEnd, "choices")) {
      chunk.isEmpty = /^\[\s*\]$/.test(events.toString("latin1", valueStart, valueEnd));
    }
    return true;
  });
  // The walk may end early, so what is torn is told by its end.
  if (result === "not an object" || !endsObject(text, text.length)) chunk.kind = "garbage";
  return chunk;
}

/**
 * Where the next usage or error may stand, beyond the end when there is none. `"usage": null`, which OpenAI puts into
 * every chunk, does not count; keys may be written with escapes, hence the second part.
 */
function findUsageOrError(text: string, from: number): number {
  const pattern = /"(?:usage|error)"\s*:\s*(?!null\b|\s)|\\u00[67]/g;
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? Infinity;
}

/** Where the data of this line begins, or -1 when the line is no data or has none. */
function dataStart(text: string, line: number): number {
  if (!text.startsWith("data:", line)) return -1;
  let at = line + "data:".length;
  while (text[at] === " ") at++;
  return text[at] === "\n" || text[at] === "\r" ? -1 : at;
}

function isEmptyLine(text: string, line: number): boolean {
  return text.startsWith("\n", line) || text.startsWith("\r\n", line);
}

/** Whether the line that ends before `next` has a closing brace as its last character that is no space. */
function endsObject(text: string, next: number): boolean {
  let at = next - 1;
  while (at >= 0 && text.charCodeAt(at) <= 0x20) at--;
  return text[at] === "}";
}

/** Null for `"usage": null`, which some upstreams put into every chunk. */
function parseUsage(events: Buffer, start: number, end: number): TokenUsage | null {
  try {
    const usage: unknown = JSON.parse(events.toString("utf8", start, end));
    return isObject(usage) ? readTokenUsage(usage) : null;
  } catch {
    return null;
  }
}

/** What the chunk with the usage has in common with all others, and the usage. */
const repeatedNames = ["id", "object", "created", "usage"];

const quote = 0x22;

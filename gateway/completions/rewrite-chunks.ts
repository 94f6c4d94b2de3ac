import { applyEdits, type Edit } from "../wire/apply-edits.ts";
import { isObject, readTokenUsage, type TokenUsage } from "../wire/chat-completion.ts";
import { isKey, scanMembers } from "../wire/json-layout.ts";

/** What a piece of an upstream's stream comes to. */
export type RewrittenChunks = {
  /** What the client gets, up to whatever ended the stream; may be empty. */
  bytes: Buffer;
  usage: TokenUsage | null;
  /** Whether this piece ended the stream: by `[DONE]`, by reporting an error (its data), or by being no chunk at all. */
  ending: { kind: "done" } | { kind: "error"; payload: Buffer } | { kind: "garbage" } | null;
};

/** What to make of the chunks of one stream. */
export type ChunkRules = {
  /** The slug, as JSON. */
  modelJson: string;
  /** Whether the chunk with the usage is for the gateway only. */
  withholdsUsage: boolean;
};

/**
 * Rewrites chat completion chunks where they stand: the slug for the upstream's name of the model, nothing for the usage
 * that the client did not ask for. All else, comments included, stays as it came. No chunk is parsed but the one with the
 * usage; most are only walked until `model` has been found.
 * @param events complete server-sent events; each event's data is one line, as OpenAI and its imitators write it.
 */
export function rewriteChunks(events: Buffer, rules: ChunkRules): RewrittenChunks {
  const edits: Edit[] = [];
  let usage: TokenUsage | null = null;
  // Asked once of all bytes together, because most pieces of a stream hold neither.
  const mayHoldMore = events.includes(usageKey) || events.includes(errorKey);
  let eventStart = 0;
  for (let line = 0; line < events.length;) {
    const newline = events.indexOf(newlineByte, line);
    const next = newline === -1 ? events.length : newline + 1;
    const start = dataStart(events, line);
    if (start === -1) {
      if (isEmptyLine(events, line)) eventStart = next;
      line = next;
      continue;
    }
    line = next;
    const chunk = readChunk(events, start, next, mayHoldMore);
    if (chunk.kind !== "chunk") {
      // The whole event goes, with its name and id, or the next one would take them.
      edits.push({ start: eventStart, end: events.length, text: "" });
      return { bytes: applyEdits(events, edits), usage, ending: toEnding(chunk.kind, events, start, next) };
    }
    usage = chunk.usage ?? usage;
    if (chunk.usage && chunk.isEmpty && rules.withholdsUsage) {
      if (isEmptyLine(events, next)) line = events.indexOf(newlineByte, next) + 1;
      edits.push({ start: eventStart, end: line, text: "" });
      eventStart = line;
    } else {
      edits.push(modelEdit(chunk, start, rules.modelJson));
    }
  }
  return { bytes: applyEdits(events, edits), usage, ending: null };
}

function modelEdit({ modelStart, modelEnd, hasMembers }: Chunk, start: number, modelJson: string): Edit {
  if (modelStart !== -1) return { start: modelStart, end: modelEnd, text: modelJson };
  return { start: start + 1, end: start + 1, text: `"model":${modelJson}${hasMembers ? "," : ""}` };
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
  if (events[start] !== openBrace) {
    chunk.kind = events.toString("latin1", start, end).trimEnd() === "[DONE]" ? "done" : "garbage";
    return chunk;
  }
  const result = scanMembers(events, start, end, Infinity, (keyStart, keyEnd, valueStart, valueEnd) => {
    chunk.hasMembers = true;
    if (isKey(events, keyStart, keyEnd, "model")) {
      chunk.modelStart = valueStart;
      chunk.modelEnd = valueEnd;
      return mayHoldMore;
    }
    if (isKey(events, keyStart, keyEnd, "error") && events[valueStart] !== nullStart) {
      chunk.kind = "error";
      return false;
    }
    if (isKey(events, keyStart, keyEnd, "usage")) chunk.usage = parseUsage(events, valueStart, valueEnd);
    if (isKey(events, keyStart, keyEnd, "choices"))
      chunk.isEmpty = isEmptyArray(events, valueStart, valueEnd);
    return true;
  });
  // The walk may end early, so what is torn is told by its end.
  if (result === "not an object" || lastByte(events, start, end) !== closeBrace) chunk.kind = "garbage";
  return chunk;
}

function toEnding(
  kind: "done" | "error" | "garbage",
  events: Buffer,
  start: number,
  end: number,
): RewrittenChunks["ending"] {
  return kind === "error" ? { kind, payload: events.subarray(start, end) } : { kind };
}

/** Where the data of this line begins, or -1 when the line is no data or has none. */
function dataStart(events: Buffer, line: number): number {
  for (let index = 0; index < dataField.length; index++) {
    if (events[line + index] !== dataField.charCodeAt(index)) return -1;
  }
  let at = line + dataField.length;
  while (events[at] === spaceByte) at++;
  return events[at] === newlineByte || events[at] === carriageReturnByte ? -1 : at;
}

function isEmptyLine(events: Buffer, line: number): boolean {
  const first = events[line];
  return first === newlineByte || (first === carriageReturnByte && events[line + 1] === newlineByte);
}

/** The last byte of a line that is no space. */
function lastByte(events: Buffer, start: number, end: number): number | undefined {
  let at = end - 1;
  while (at > start && (events[at] ?? 0) <= spaceByte) at--;
  return events[at];
}

/** Null for `"usage": null`, which some upstreams put into every chunk. */
function parseUsage(events: Buffer, start: number, end: number): TokenUsage | null {
  if (events[start] !== openBrace) return null;
  try {
    const usage: unknown = JSON.parse(events.toString("utf8", start, end));
    return isObject(usage) ? readTokenUsage(usage) : null;
  } catch {
    return null;
  }
}

function isEmptyArray(events: Buffer, start: number, end: number): boolean {
  return end - start < emptyArrayBytesMax && /^\[\s*\]$/.test(events.toString("latin1", start, end));
}

const usageKey = Buffer.from('"usage"');
const errorKey = Buffer.from('"error"');
const dataField = "data:";
const newlineByte = 0x0a;
const carriageReturnByte = 0x0d;
const spaceByte = 0x20;
const openBrace = 0x7b;
const closeBrace = 0x7d;
/** Of `null`. */
const nullStart = 0x6e;
const emptyArrayBytesMax = 16;

import type { Edit } from "./bytes.ts";
import { parseShortJson, isKey, scanMembers, openBracket } from "./json.ts";

type ScannedAnswer = {
  /** Replace the model name with the slug, or add the slug. */
  edits: Edit[];
  /** Null if missing or invalid: an answer without usage is still relayed. */
  usage: unknown;
  serviceTier: unknown;
  /** The range of the list `listName`. Null if there is none. */
  list: { start: number; end: number } | null;
  /** Whether the list has no items. */
  isEmpty: boolean;
  /** A reported error, or null. */
  error: unknown;
};

/** Returns null if the answer is not an object. */
export function scanAnswer(
  bytes: Buffer,
  range: { start: number; end: number },
  { slug, listName }: { slug: string; listName: string },
): ScannedAnswer | null {
  const text = JSON.stringify(slug);
  const scanned: ScannedAnswer = {
    edits: [],
    usage: null,
    serviceTier: null,
    list: null,
    isEmpty: false,
    error: null,
  };
  const result = scanMembers(bytes, range.start, range.end, Infinity, (keyStart, keyEnd, start, end) => {
    if (isKey(bytes, keyStart, keyEnd, "model")) scanned.edits.push({ start, end, text });
    else if (isKey(bytes, keyStart, keyEnd, "usage")) scanned.usage = parseShortJson(bytes, start, end);
    else if (isKey(bytes, keyStart, keyEnd, "service_tier"))
      scanned.serviceTier = parseShortJson(bytes, start, end);
    else if (isKey(bytes, keyStart, keyEnd, listName)) {
      scanned.list = bytes[start] === openBracket ? { start, end } : null;
      scanned.isEmpty =
        end - start < emptyListBytesMax && /^\[\s*\]$/.test(bytes.toString("latin1", start, end));
    } else if (isKey(bytes, keyStart, keyEnd, "error")) scanned.error = parseShortJson(bytes, start, end);
  });
  if (result !== "complete") return null;
  if (scanned.edits.length === 0) {
    const first = bytes.indexOf("{", range.start) + 1;
    scanned.edits.push({ start: first, end: first, text: `"model":${text},` });
  }
  return scanned;
}

/** Longer lists are not checked for items. */
const emptyListBytesMax = 64;

import { type Edit, parseJson } from "./json.ts";
import { isKey, scanMembers } from "./json-layout.ts";

type ScannedAnswer = {
  /** Put the slug in the place of the model's name, or add it where there is none. */
  edits: Edit[];
  /** As it was parsed; null where there is none, and where it cannot be: an answer is worth more than its counts. */
  usage: unknown;
  /** Whether the member that makes it an answer is there, and an array. */
  hasList: boolean;
};

/**
 * Reads what matters of an answer that goes on in the upstream's own bytes. The rest, which may be large, is walked over,
 * not built: that it is all there is known from HTTP, and from the brackets that close. Null for what is no object.
 */
export function scanAnswer(
  bytes: Buffer,
  range: { start: number; end: number },
  { slug, listName }: { slug: string; listName: string },
): ScannedAnswer | null {
  const text = JSON.stringify(slug);
  const scanned: ScannedAnswer = { edits: [], usage: null, hasList: false };
  const result = scanMembers(bytes, range.start, range.end, Infinity, (keyStart, keyEnd, start, end) => {
    if (isKey(bytes, keyStart, keyEnd, "model")) scanned.edits.push({ start, end, text });
    else if (isKey(bytes, keyStart, keyEnd, "usage"))
      scanned.usage = parseJson(bytes.toString("utf8", start, end));
    else if (isKey(bytes, keyStart, keyEnd, listName)) scanned.hasList = bytes[start] === openBracket;
  });
  if (result !== "complete") return null;
  if (scanned.edits.length === 0) {
    const first = bytes.indexOf("{", range.start) + 1;
    scanned.edits.push({ start: first, end: first, text: `"model":${text},` });
  }
  return scanned;
}

const openBracket = 0x5b;

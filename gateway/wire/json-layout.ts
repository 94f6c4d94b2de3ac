/**
 * Finds where the members of a JSON object (RFC 8259) stand in its bytes, without building anything, so that single values
 * can be replaced and everything else goes on as it was written. It skips over values, it does not check them: text that
 * `JSON.parse` accepts is read rightly, other text may give any answer.
 */
export function scanMembers(
  bytes: Uint8Array,
  start: number,
  end: number,
  depthMax: number,
  visit: VisitMember,
): ScanResult {
  let at = skipSpace(bytes, start, end);
  if (bytes[at] !== openBrace) return "not an object";
  at = skipSpace(bytes, at + 1, end);
  while (at < end && bytes[at] !== closeBrace) {
    if (bytes[at] !== quote) return "not an object";
    const keyStart = at + 1;
    const keyEnd = skipString(bytes, keyStart, end) - 1;
    at = skipSpace(bytes, keyEnd + 1, end);
    if (bytes[at] !== colon) return "not an object";
    const valueStart = skipSpace(bytes, at + 1, end);
    const valueEnd = skipValue(bytes, valueStart, end, depthMax);
    if (valueEnd === tooDeep) return "too deep";
    if (visit(keyStart, keyEnd, valueStart, valueEnd) === false) return "stopped";
    at = skipSpace(bytes, valueEnd, end);
    if (bytes[at] === comma) at = skipSpace(bytes, at + 1, end);
    else if (bytes[at] !== closeBrace) return "not an object";
  }
  return at < end && skipSpace(bytes, at + 1, end) === end ? "complete" : "not an object";
}

/** Gets the positions of a key (between its quotes) and of its value. Returning false ends the scan. */
export type VisitMember = (
  keyStart: number,
  keyEnd: number,
  valueStart: number,
  valueEnd: number,
) => boolean | void;

export type ScanResult = "complete" | "stopped" | "not an object" | "too deep";

/** Whether the key at these positions is `name`, also when it is written with escapes. */
export function isKey(bytes: Buffer, keyStart: number, keyEnd: number, name: string): boolean {
  if (keyEnd - keyStart === name.length) {
    for (let index = 0; index < name.length; index++) {
      if (bytes[keyStart + index] !== name.charCodeAt(index)) return false;
    }
    return true;
  }
  return (
    keyEnd - keyStart >= name.length + shortestEscape &&
    keyEnd - keyStart <= name.length * longestCharacter &&
    hasEscape(bytes, keyStart, keyEnd) &&
    unescapeKey(bytes, keyStart, keyEnd) === name
  );
}

function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === backslash) return true;
  return false;
}

function unescapeKey(bytes: Buffer, keyStart: number, keyEnd: number): string | null {
  try {
    return String(JSON.parse(bytes.toString("utf8", keyStart - 1, keyEnd + 1)));
  } catch {
    return null;
  }
}

/** Returns the position after the value, or `tooDeep`. */
function skipValue(bytes: Uint8Array, start: number, end: number, depthMax: number): number {
  let depth = 0;
  let at = start;
  while (at < end) {
    const byte = bytes[at];
    if (byte === quote) {
      at = skipString(bytes, at + 1, end);
      if (depth === 0) return at;
      continue;
    }
    if (byte === openBrace || byte === openBracket) {
      depth++;
      // The object whose member this is counts too.
      if (depth >= depthMax) return tooDeep;
    } else if (byte === closeBrace || byte === closeBracket) {
      // At depth 0 this closes the object around a number or a word.
      if (depth === 0) return at;
      depth--;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && (byte === comma || isSpace(byte))) {
      return at;
    }
    at++;
  }
  return at;
}

/** Returns the position after the closing quote. Long strings are left to `indexOf`, which compares many bytes at once. */
function skipString(bytes: Uint8Array, start: number, end: number): number {
  const near = Math.min(end, start + 32);
  let at = start;
  while (at < near) {
    const byte = bytes[at];
    if (byte === quote) return at + 1;
    at += byte === backslash ? 2 : 1;
  }
  let from = at;
  while (from < end) {
    const found = bytes.indexOf(quote, from);
    if (found === -1 || found >= end) return end;
    let backslashes = 0;
    while (found - 1 - backslashes >= at && bytes[found - 1 - backslashes] === backslash) backslashes++;
    if (backslashes % 2 === 0) return found + 1;
    from = found + 1;
  }
  return end;
}

function skipSpace(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && isSpace(bytes[at])) at++;
  return at;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** How much longer a key is with one character written as `\\u0061`. */
const shortestEscape = 5;
/** The bytes of one such character. */
const longestCharacter = 6;
const tooDeep = -1;
const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

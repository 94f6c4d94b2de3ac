/** False for a number whose text is kept, which is an object to JavaScript. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawJson(value);
}

/** TypeScript does not know the function, which Node 24 has. */
const { isRawJSON: isRawJson } = JSON as typeof JSON & { isRawJSON(value: unknown): boolean };

/** Any value except a string counts as an empty text. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns null for invalid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Parses a part of a message. Returns null for invalid JSON and for more than 64 KiB, which would delay other requests. */
export function parseShortJson(bytes: Buffer, start: number, end: number): unknown {
  return end - start > shortBytesMax ? null : parseJson(bytes.toString("utf8", start, end));
}

const shortBytesMax = 64 * 1024;

/** Returns null for deep nesting, which `JSON.parse` accepts and `JSON.stringify` does not. */
export function stringifyJson(value: object): string | null {
  try {
    return JSON.stringify(value);
  } catch {
    return null;
  }
}

/**
 * Finds the positions of a JSON object's members (RFC 8259) without building values. Checks only part of the
 * syntax, so the positions are correct only if `JSON.parse` accepts the text.
 */
export function scanMembers(
  bytes: Uint8Array,
  start: number,
  end: number,
  depthMax: number,
  visit: VisitMember,
  count: ValueCount = countValues(Infinity),
  texts: StringSkipper | null = null,
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
    count.tenths += 10;
    const valueEnd = skipValue(bytes, valueStart, end, depthMax, count, texts);
    if (valueEnd === tooDeep) return "too deep";
    if (count.tenths > count.tenthsMax) return "too many values";
    if (visit(keyStart, keyEnd, valueStart, valueEnd) === false) return "stopped";
    at = skipSpace(bytes, valueEnd, end);
    if (bytes[at] === comma) at = skipSpace(bytes, at + 1, end);
    else if (bytes[at] !== closeBrace) return "not an object";
  }
  return at < end && skipSpace(bytes, at + 1, end) === end ? "complete" : "not an object";
}

/** Receives the positions of a key (between its quotes) and its value. Returning false ends the scan. */
export type VisitMember = (
  keyStart: number,
  keyEnd: number,
  valueStart: number,
  valueEnd: number,
) => boolean | void;

export type ScanResult = "complete" | "stopped" | "not an object" | "too deep" | "too many values";

/**
 * Counts values, because their number determines the parsing time. Names, strings, objects and arrays count
 * as one. Numbers and literals count as about a tenth, by their commas.
 */
export type ValueCount = { tenths: number; readonly tenthsMax: number };

/** Returns the position after a string of at least 32 bytes, or null to leave the string to the scan. */
export type StringSkipper = { skip(start: number, end: number): number | null };

export function countValues(valuesMax: number): ValueCount {
  return { tenths: 0, tenthsMax: valuesMax * 10 };
}

/** Whether the key is `name`, with or without escapes. */
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

/** Returns the position after the value, or `tooDeep`. Stops early when the count exceeds its maximum. */
export function skipValue(
  bytes: Uint8Array,
  start: number,
  end: number,
  depthMax: number,
  count: ValueCount,
  texts: StringSkipper | null,
): number {
  const { tenthsMax } = count;
  let { tenths } = count;
  let depth = 0;
  let at = start;
  while (at < end && tenths <= tenthsMax) {
    const byte = bytes[at];
    if (byte === quote) {
      tenths += 10;
      at = skipString(bytes, at + 1, end, texts);
      if (depth === 0) break;
      continue;
    }
    if (byte === openBrace || byte === openBracket) {
      tenths += 10;
      depth++;
      // The enclosing object counts as a level.
      if (depth >= depthMax) return tooDeep;
    } else if (byte === closeBrace || byte === closeBracket) {
      // At depth 0, the brace closes the object around a number or literal.
      if (depth === 0) break;
      depth--;
      if (depth === 0) {
        at++;
        break;
      }
    } else if (byte === comma) {
      if (depth === 0) break;
      tenths++;
    } else if (depth === 0 && isSpace(byte)) {
      break;
    }
    at++;
  }
  count.tenths = tenths;
  return at;
}

/** Returns the position after the closing quote, or `end`. A loop is faster than `indexOf` for short strings. */
export function skipString(
  bytes: Uint8Array,
  start: number,
  end: number,
  texts: StringSkipper | null = null,
): number {
  let at = start;
  let near = Math.min(end, start + nearBytes);
  let skipper = texts;
  while (at < end) {
    while (at < near) {
      const byte = bytes[at];
      if (byte === quote) return at + 1;
      at += byte === backslash ? 2 : 1;
    }
    const textEnd = skipper && skipper.skip(start, end);
    if (textEnd) return textEnd;
    // Calling `skip` again after each escaped quote would take quadratic time.
    skipper = null;
    const found = bytes.indexOf(quote, at);
    if (found === -1 || found >= end) return end;
    let backslashes = 0;
    while (found - 1 - backslashes >= at && bytes[found - 1 - backslashes] === backslash) backslashes++;
    if (backslashes % 2 === 0) return found + 1;
    near = found - at < nearBytes ? Math.min(end, found + nearBytes) : 0;
    at = found + 1;
  }
  return end;
}

const nearBytes = 32;

export function skipSpace(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && isSpace(bytes[at])) at++;
  return at;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** The additional bytes of a key with one character written as `\u0061`. */
const shortestEscape = 5;
/** The length of an escape such as `\u0061`. */
const longestCharacter = 6;
const tooDeep = -1;
// Constants of this module, because scanning with imported constants takes an eighth longer.
export const quote = 0x22;
export const backslash = 0x5c;
const colon = 0x3a;
export const comma = 0x2c;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;

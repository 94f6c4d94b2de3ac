import { backslash, quote, skipString, type StringSkipper } from "./json.ts";

/** Finds and validates the long texts during the scan of a JSON text, four bytes at a time. */
export class LongTexts implements StringSkipper {
  /** Alternating starts and ends of valid texts, between their quotes. */
  readonly #ranges: number[] = [];
  #length = 0;
  #escapes = 0;
  readonly #bytes: Buffer;
  readonly #words: Int32Array;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#words = new Int32Array(bytes.buffer, 0, bytes.buffer.byteLength >> 2);
  }

  /** An upper bound of the body's weighted text size: see `measureText`. */
  get textSizeMax(): number {
    const others = this.#bytes.length - this.#length;
    return others * textSizeRatioMax + this.#length + 3 * this.#escapes;
  }

  /** The JSON text with a placeholder for each long text. */
  outline(): string {
    const ranges = this.#ranges;
    let text = "";
    let from = 0;
    for (let index = 0; index < ranges.length; index += 2) {
      text += `${this.#bytes.toString("utf8", from, ranges[index])}${placeholder}`;
      from = ranges[index + 1] ?? from;
    }
    return text + this.#bytes.toString("utf8", from);
  }

  /** Null for an invalid string, which the parser will report. */
  skip(start: number, end: number): number | null {
    const bytes = this.#bytes;
    const words = this.#words;
    const { byteOffset } = bytes;
    let escapes = 0;
    let at = start;
    while (at < end) {
      const isAligned = ((at + byteOffset) & 3) === 0;
      if (isAligned) at = skipPlainWords(words, at + byteOffset, end + byteOffset) - byteOffset;
      // Reads at least one byte, up to the next word.
      do {
        const byte = bytes[at];
        if (byte === quote) {
          this.#add(start, at, escapes);
          return at + 1;
        }
        if (byte === backslash) {
          const length = escapeLength(bytes, at + 1);
          if (length === 0) return null;
          escapes++;
          at += length;
        } else if (byte === undefined || byte < firstPrintable) return null;
        at++;
      } while (((at + byteOffset) & 3) !== 0 && at < end);
    }
    return null;
  }

  #add(start: number, end: number, escapes: number): void {
    if (end - start < longTextBytesMin || !isTextOf(this.#bytes, start - 1)) return;
    this.#ranges.push(start, end);
    this.#length += end - start;
    this.#escapes += escapes;
  }
}

/** Whether a string is the value of a member in `textNames`. */
function isTextOf(bytes: Buffer, openingQuote: number): boolean {
  const colon = skipSpaceBack(bytes, openingQuote - 1);
  if (bytes[colon] !== 0x3a) return false;
  const end = skipSpaceBack(bytes, colon - 1);
  let start = end;
  while (end - start <= textNameLengthMax && bytes[start - 1] !== quote) start--;
  return textNames.has(bytes.toString("latin1", start, end));
}

function skipSpaceBack(bytes: Buffer, from: number): number {
  let at = from;
  while (at > 0 && (bytes[at] ?? 0) <= firstPrintable) at--;
  return at;
}

/** Members whose text no check reads. Names that are written with escapes are not recognized. */
const textNames = new Set([
  "content",
  "text",
  "input",
  "system",
  "instructions",
  "thinking",
  "reasoning_content",
  "arguments",
  "output",
  "description",
  "data",
  "url",
  "image_url",
  "file_data",
  "signature",
  "encrypted_content",
]);
const textNameLengthMax = Math.max(...Array.from(textNames, ({ length }) => length));

/** Shorter texts are faster to parse than to omit. */
export const longTextBytesMin = 512;
const placeholder = "-";
const firstPrintable = 0x20;

/** Returns the position of the first word with a quote, backslash or control character, in bytes of the buffer. */
function skipPlainWords(words: Int32Array, start: number, end: number): number {
  const last = end >> 2;
  let index = start >> 2;
  for (; index < last; index++) {
    const word = words[index] ?? 0;
    // Subtracting 0x01 (or 0x21) sets the highest bit of a byte that is zero (or less than 0x21).
    // https://graphics.stanford.edu/~seander/bithacks.html#ZeroInWord
    const backslashes = word ^ 0x5c5c5c5c;
    // The XOR turns a quote into 0x20. Quotes and control characters are then less than 0x21.
    const others = word ^ 0x02020202;
    const found = ((backslashes - 0x01010101) & ~backslashes) | ((others - 0x21212121) & ~others);
    if ((found & 0x80808080) !== 0) break;
  }
  return index << 2;
}

/** The length of an escape after its backslash, or 0 for an invalid one. */
function escapeLength(bytes: Uint8Array, at: number): number {
  const byte = bytes[at] ?? 0;
  if (byte !== letterU) return escapes[byte] ?? 0;
  for (let digit = at + 1; digit <= at + 4; digit++) if (hexDigits[bytes[digit] ?? 0] === 0) return 0;
  return 5;
}

function flagsOf(characters: string): Uint8Array {
  const flags = new Uint8Array(256);
  for (const character of characters) flags[character.charCodeAt(0)] = 1;
  return flags;
}

const letterU = 0x75;
const escapes = flagsOf('"\\/bfnrt');
const hexDigits = flagsOf("0123456789abcdefABCDEF");

/**
 * Measures a JSON text in bytes, weighted by processing time. A long base64 string counts 0, and an escape 3
 * more than its bytes. The result is inexact above `sizeMax`.
 */
export function measureText(bytes: Buffer, sizeMax: number): number {
  let size = 0;
  let end = 0;
  for (let at = bytes.indexOf(quote); at !== -1 && size <= sizeMax; at = bytes.indexOf(quote, end)) {
    const start = at + 1;
    size += start - end;
    end = skipString(bytes, start, bytes.length);
    if (end - start >= mediaBytesMin && isBase64(bytes, start + dataUrlHeadBytes, end - 1)) continue;
    size += end - start;
    if (size <= sizeMax) size += 3 * countEscapes(bytes, start, end);
  }
  return size + bytes.length - end;
}

/** The ratio for a text of two-byte escapes, which count as 5. */
const textSizeRatioMax = 2.5;

function countEscapes(bytes: Uint8Array, start: number, end: number): number {
  let escapes = 0;
  for (let at = start; at < end; at++) {
    if (bytes[at] !== backslash) continue;
    escapes++;
    at++;
  }
  return escapes;
}

function isBase64(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (base64[bytes[at] ?? 0] === 0) return false;
  return true;
}

const base64 = new Uint8Array(256);
for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_") {
  base64[character.charCodeAt(0)] = 1;
}
const mediaBytesMin = 4_096;
/** The maximum number of bytes before the base64 data of a data URL. */
const dataUrlHeadBytes = 256;

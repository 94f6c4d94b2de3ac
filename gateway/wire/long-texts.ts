import { backslash, quote, skipString, type StringSkipper } from "./json.ts";
import { TextScanner } from "./text-scanner.ts";

export class LongTexts implements StringSkipper {
  /** The start and end of each long text, without its quotes. */
  readonly #ranges: number[] = [];
  #length = 0;
  #escapes = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** An upper bound of the body's weighted text size: see `measureText`. */
  get textSizeMax(): number {
    const others = this.#bytes.length - this.#length;
    return others * textSizeRatioMax + this.#length + 3 * this.#escapes;
  }

  /** Returns the JSON text with a placeholder instead of each long text. */
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

  /** Returns null for an invalid string. The JSON parser then reports the error. */
  skip(start: number, end: number): number | null {
    const textEnd = scanner.findEnd(this.#bytes, start, end);
    if (textEnd === null) return null;
    this.#add(start, textEnd, scanner.escapes);
    return textEnd + 1;
  }

  #add(start: number, end: number, escapes: number): void {
    if (end - start < longTextBytesMin || !isTextOf(this.#bytes, start - 1)) return;
    this.#ranges.push(start, end);
    this.#length += end - start;
    this.#escapes += escapes;
  }
}

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

/** Members with text that routing and validation do not need. Names with escapes do not match. */
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

const scanner = new TextScanner();

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

import { comma, countValues, openBracket, skipSpace, skipValue } from "./json.ts";
import { LongTexts } from "./long-texts.ts";

/** The items of a JSON array as bytes, joined by commas, so that joining lists and reading one item parse nothing. */
export type JsonItems = {
  readonly bytes: Buffer;
  /** The position of each item. */
  readonly starts: Uint32Array;
};

/** @param values anything but `undefined` that `JSON.stringify` accepts */
export function formatItems(values: readonly unknown[]): JsonItems {
  return listItems(values.map((value) => Buffer.from(JSON.stringify(value))));
}

/** @param items the JSON text of each item */
export function listItems(items: readonly Buffer[]): JsonItems {
  const starts = new Uint32Array(items.length);
  let length = 0;
  for (const [index, item] of items.entries()) {
    starts[index] = length;
    length += item.length + 1;
  }
  return { bytes: Buffer.concat(withCommas(items)), starts };
}

export function joinItems(lists: readonly JsonItems[]): JsonItems {
  const filled = lists.filter(({ starts }) => starts.length > 0);
  const starts = new Uint32Array(filled.reduce((count, list) => count + list.starts.length, 0));
  let index = 0;
  let length = 0;
  for (const list of filled) {
    if (length > 0) length++;
    for (const start of list.starts) starts[index++] = length + start;
    length += list.bytes.length;
  }
  const pieces = filled.map(({ bytes }) => bytes);
  return { bytes: Buffer.concat(withCommas(pieces)), starts };
}

export function withCommas(pieces: readonly Buffer[]): Buffer[] {
  return pieces.flatMap((piece, index) => (index === 0 ? [piece] : [commaBytes, piece]));
}

/** Returns the JSON text of an item, without a copy. */
export function itemAt({ bytes, starts }: JsonItems, index: number): Buffer | null {
  const start = starts[index];
  if (start === undefined) return null;
  const next = starts[index + 1];
  return bytes.subarray(start, next === undefined ? bytes.length : next - 1);
}

/** Finds the text of each item of an array in valid JSON, without copies. Empty if the value is no array. */
export function splitItems(bytes: Buffer, start: number, end: number): Buffer[] {
  const items: Buffer[] = [];
  if (bytes[start] !== openBracket) return items;
  // The bracket that closes the array.
  const last = end - 1;
  const count = countValues(Infinity);
  const texts = new LongTexts(bytes);
  let at = skipSpace(bytes, start + 1, last);
  while (at < last) {
    const itemEnd = skipValue(bytes, at, last, Infinity, count, texts);
    if (itemEnd <= at) break;
    items.push(bytes.subarray(at, itemEnd));
    at = skipSpace(bytes, itemEnd, last);
    if (bytes[at] === comma) at = skipSpace(bytes, at + 1, last);
  }
  return items;
}

const commaBytes = Buffer.from(",");

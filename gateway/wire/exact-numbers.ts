import { randomUUID } from "node:crypto";
import { GatewayError } from "../errors.ts";
import { isObject } from "./json.ts";

/**
 * Parses JSON, and keeps the text of numbers that JavaScript would change, such as 1.0 or 2^53 + 1.
 * `JSON.stringify` writes the text unchanged. Throws `request_too_large` for too many such numbers.
 */
export function parseExact(text: string): unknown {
  return hasInexactNumbers(text) ? unmark(JSON.parse(markNumbers(text))) : JSON.parse(text);
}

/** Parses JSON, and keeps the text of numbers only in schemas and in the input of tool calls. */
export function parseExactParts(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (hasInexactNumbers(text)) keepExactParts(value, text);
  return value;
}

/** Matches also some texts within strings. */
export function hasInexactNumbers(text: string): boolean {
  return inexactNumber.test(text);
}

/** @param value the plain value of `text` */
export function keepExactParts(value: unknown, text: string): void {
  try {
    copyParts(value, JSON.parse(markNumbers(text)));
  } catch (error) {
    // Nesting that overflows the stack here cannot be written again either.
    if (!(error instanceof RangeError)) throw error;
  }
}

/** Both values come from the same text, so they have the same members. `exact` has marked numbers. */
function copyParts(value: unknown, exact: unknown): void {
  if (Array.isArray(value) && Array.isArray(exact)) {
    for (const [index, item] of value.entries()) copyParts(item, exact[index]);
  } else if (isObject(value) && isObject(exact)) {
    for (const [name, member] of Object.entries(value)) {
      if (partNames.has(name) && isObject(member)) value[name] = unmark(exact[name]);
      else copyParts(member, exact[name]);
    }
  }
}

/** Members whose numbers belong to the client's tools. A Responses request's own `input` is not an object. */
const partNames = new Set(["arguments", "input", "args", "parameters", "input_schema", "schema"]);

/** Makes each inexact number a string. `JSON.parse` with a reviver would need some microseconds for every value. */
function markNumbers(text: string): string {
  let marked = "";
  let count = 0;
  const markNumber = (number: string) => {
    if (++count > inexactNumbersMax) throw tooManyNumbers();
    return `"${mark}${number}"`;
  };
  for (let at = 0; ;) {
    const start = text.indexOf('"', at);
    const between = text.slice(at, start === -1 ? text.length : start);
    marked += between.length > 1 ? between.replace(inexactNumbers, markNumber) : between;
    if (start === -1) return marked;
    at = stringEnd(text, start + 1);
    marked += text.slice(start, at);
  }
}

/** Keeping as many numbers takes some 100 ms. */
const inexactNumbersMax = 50_000;

function tooManyNumbers(): GatewayError {
  return new GatewayError(
    "request_too_large",
    `The request contains more than ${inexactNumbersMax} numbers whose text must be kept, such as 1.0 or numbers of 16 digits. Send fewer, or send them as text.`,
  );
}

function stringEnd(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return end + 1;
  }
  return text.length;
}

/** Replaces the marked numbers within a value. */
function unmark(value: unknown): unknown {
  if (typeof value === "string") return value.startsWith(mark) ? toNumber(value.slice(mark.length)) : value;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) value[index] = unmark(value[index]);
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) value[name] = unmark(value[name]);
  }
  return value;
}

function toNumber(text: string): unknown {
  const value = Number(text);
  return String(value) === text ? value : rawJson(text);
}

/** No client can guess the text. */
const mark = randomUUID().slice(0, 13);

/** The start of a number whose text may change: 16 digits, a trailing zero, many leading zeros, an exponent, or -0. */
const inexact = String.raw`(?:\d[\d.]{15}|\d+\.(?:0{6}|\d*0(?!\d))|\d+(?:\.\d+)?[eE]|0(?<=-0)(?![\d.]))`;
/** Starting with a digit makes the search fast, because most texts have few. */
const inexactNumber = new RegExp(String.raw`(?<=(?:^|[[:,])\s*-?)${inexact}`);
const inexactNumbers = new RegExp(String.raw`(?<=(?:^|[[:,])\s*)-?(?=${inexact})\d[\d.eE+-]*`, "g");

/** TypeScript does not know the function, which Node 24 has. */
const { rawJSON: rawJson } = JSON as typeof JSON & { rawJSON(text: string): object };

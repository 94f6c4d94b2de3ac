import { isObject } from "./json.ts";

/**
 * Parses JSON, and keeps the text of numbers that JavaScript would change, such as 1.0 or 2^53 + 1.
 * `JSON.stringify` writes the text unchanged.
 */
export function parseExact(text: string): unknown {
  return hasInexactNumbers(text) ? JSON.parse(text, keepText as Reviver) : JSON.parse(text);
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
  copyParts(value, JSON.parse(text, keepText as Reviver));
}

/** Both values come from the same text, so they have the same members. */
function copyParts(value: unknown, exact: unknown): void {
  if (Array.isArray(value) && Array.isArray(exact)) {
    for (const [index, item] of value.entries()) copyParts(item, exact[index]);
  } else if (isObject(value) && isObject(exact)) {
    for (const [name, member] of Object.entries(value)) {
      if (partNames.has(name) && isObject(member)) value[name] = exact[name];
      else copyParts(member, exact[name]);
    }
  }
}

/** Members whose numbers belong to the client's tools. A Responses request's own `input` is no object. */
const partNames = new Set(["arguments", "input", "args", "parameters", "input_schema", "schema"]);

/**
 * Matches each number whose text may change: at least 16 digits, a trailing or many leading zeros, an exponent,
 * or -0. Starting with a digit makes the search fast, because most texts have few.
 */
const inexactNumber =
  /(?<=(?:^|[[:,])\s*-?)(?:\d[\d.]{15}|\d+\.(?:0{6}|\d*0(?!\d))|\d+(?:\.\d+)?[eE]|0(?<=-0)(?![\d.]))/;

type Reviver = (key: string, value: unknown) => unknown;

/** TypeScript does not know the third argument and `rawJSON`, which Node 24 has. */
function keepText(_key: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== "number" || source === undefined || JSON.stringify(value) === source) return value;
  return rawJson(source);
}

const { rawJSON: rawJson } = JSON as typeof JSON & { rawJSON(text: string): object };

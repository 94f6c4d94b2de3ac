import { isObject } from "./json.ts";

/**
 * Parses JSON, and keeps the text of numbers that JavaScript would change, such as 1.0 or 2^53 + 1.
 * `JSON.stringify` writes the text unchanged.
 */
export function parseExact(text: string): unknown {
  return inexactNumber.test(text) ? JSON.parse(text, keepText as Reviver) : JSON.parse(text);
}

/** Parses an upstream's JSON, and keeps the text of numbers only in the input of tool calls. */
export function parseWithExactInputs(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (inexactNumber.test(text)) copyInputs(value, parseExact(text));
  return value;
}

/** Both values come from the same text, so they have the same members. */
function copyInputs(value: unknown, exact: unknown): void {
  if (Array.isArray(value) && Array.isArray(exact)) {
    for (const [index, item] of value.entries()) copyInputs(item, exact[index]);
  } else if (isObject(value) && isObject(exact)) {
    for (const [name, member] of Object.entries(value)) {
      if (inputNames.has(name)) value[name] = exact[name];
      else copyInputs(member, exact[name]);
    }
  }
}

const inputNames = new Set(["arguments", "input", "args"]);

/** Matches each number whose text may change, and some text within strings, which only costs time. */
const inexactNumber =
  /(?:^|[[:,\s])-?(?:\d{16}|0*\d+\.\d*0(?!\d)|\d+\.\d{14}|\d+(?:\.\d+)?[eE]|0(?=[\s,\]}]|$)(?<=-0))/;

type Reviver = (key: string, value: unknown) => unknown;

/** TypeScript does not know the third argument and `rawJSON`, which Node 24 has. */
function keepText(_key: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== "number" || source === undefined || JSON.stringify(value) === source) return value;
  return rawJson(source);
}

const { rawJSON: rawJson } = JSON as typeof JSON & { rawJSON(text: string): object };

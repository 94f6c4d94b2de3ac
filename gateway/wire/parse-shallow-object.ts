import { GatewayError } from "../errors.ts";
import { parseExact } from "./exact-numbers.ts";
import { isObject, countValues, scanMembers, type ValueCount } from "./json.ts";

/**
 * Returns null for a text that is not a JSON object or exceeds `depthMax`, because serializing deep nesting
 * overflows the stack. Throws `request_too_large` if `count` exceeds its maximum.
 * @param count shared by all JSON texts of a request
 */
export function parseShallowObject(
  text: string,
  count: ValueCount = countValues(Infinity),
  depthMax = jsonTextDepthMax,
  parse: (json: string) => unknown = JSON.parse,
): Record<string, unknown> | null {
  count.tenths += Math.floor(text.length / charactersPerTenth);
  const value = parseShallowJson(text, count, depthMax, parse);
  if (count.tenths > count.tenthsMax) throw tooManyValues();
  return isObject(value) ? value : null;
}

/** Parses the input of a tool call. Keeps the text of numbers that JavaScript would change. */
export function parseInput(
  text: string,
  count: ValueCount = countValues(Infinity),
  depthMax = jsonTextDepthMax,
): Record<string, unknown> | null {
  return parseShallowObject(text, count, depthMax, parseExact);
}

/**
 * Parses the arguments of an earlier call for an upstream that requires an object. Wraps invalid arguments, such as
 * those of a truncated answer, as Anthropic recommends.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming
 */
export function parseArguments(text: string, count?: ValueCount, depthMax?: number): Record<string, unknown> {
  if (text.trim() === "") return {};
  return parseInput(text, count, depthMax) ?? { INVALID_JSON: text };
}

/** Returns undefined for invalid JSON, or if the text exceeds `depthMax` or the maximum of `count`. */
export function parseShallowJson(
  text: string,
  count: ValueCount,
  depthMax = jsonTextDepthMax,
  parse: (json: string) => unknown = JSON.parse,
): unknown {
  const bytes = Buffer.from(`{"":${text}}`);
  if (scanMembers(bytes, 0, bytes.length, depthMax + 1, () => {}, count) !== "complete") return undefined;
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

export function countJsonTexts(): ValueCount {
  return countValues(jsonTextsValuesMax);
}

function tooManyValues(): GatewayError {
  return new GatewayError(
    "request_too_large",
    "The tool call arguments in the request are too large in total. Send fewer calls.",
  );
}

const jsonTextDepthMax = 128;

/** Bounds the time for which parsing one request's JSON texts blocks the event loop. */
const jsonTextsValuesMax = 40_000;
/** Limits the JSON texts of one request to 12.8 million characters. */
const charactersPerTenth = 32;

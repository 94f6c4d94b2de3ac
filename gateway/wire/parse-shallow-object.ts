import { GatewayError } from "../errors.ts";
import { isObject, countValues, scanMembers, type ValueCount } from "./json.ts";

/**
 * Parses a text as a JSON object, such as a call's arguments. Null for any other text, and above `depthMax`
 * levels, because serializing deep nesting overflows the stack.
 * @param count counts the values of all the request's texts. Throws `request_too_large` above its maximum.
 */
export function parseShallowObject(
  text: string,
  count: ValueCount = countValues(Infinity),
  depthMax = jsonTextDepthMax,
): Record<string, unknown> | null {
  count.tenths += Math.floor(text.length / charactersPerTenth);
  const value = parseShallowJson(text, count, depthMax);
  if (count.tenths > count.tenthsMax) throw tooManyValues();
  return isObject(value) ? value : null;
}

/** Parses a text as any JSON value. Returns undefined for invalid JSON, and above the count's maximum or `depthMax`. */
export function parseShallowJson(text: string, count: ValueCount, depthMax = jsonTextDepthMax): unknown {
  const bytes = Buffer.from(`{"":${text}}`);
  if (scanMembers(bytes, 0, bytes.length, depthMax + 1, () => {}, count) !== "complete") return undefined;
  try {
    return JSON.parse(text);
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

export const jsonTextDepthMax = 128;

/** Bounds the time for which the JSON texts of one request block other requests. */
const jsonTextsValuesMax = 40_000;
/** Bounds the length of one request's JSON texts: at most 12.8 million characters. */
const charactersPerTenth = 32;

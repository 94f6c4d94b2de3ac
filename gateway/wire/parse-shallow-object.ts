import { GatewayError } from "../errors.ts";
import { isObject, countValues, scanMembers, type ValueCount } from "./json.ts";

/**
 * Parses a JSON object that a message carries as text, such as a call's arguments. Null for invalid JSON and beyond
 * `depthMax` levels, which could not be written again.
 * @param count of all texts of the request; throws `request_too_large` beyond it
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

/** The same for any JSON. Also undefined beyond the count. */
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

/** Together with the values of a body, translated without blocking other requests for long. */
const jsonTextsValuesMax = 40_000;
/** Counts long texts too: 12.8 MB at most in total. */
const charactersPerTenth = 32;

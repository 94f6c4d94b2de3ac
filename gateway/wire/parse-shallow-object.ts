import { GatewayError } from "../errors.ts";
import { isObject } from "./json.ts";
import { countValues, scanMembers, type ValueCount } from "./json-layout.ts";

/**
 * A JSON object that a message carries as text, such as the arguments of a call. Null for invalid JSON, and for an object of
 * more than `depthMax` levels: without a limit, it could be parsed and then not be written again.
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

/** The same for any JSON. Undefined also beyond the count. */
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
    "The arguments of the tool calls in the request are too large in total. Send fewer calls.",
  );
}

export const jsonTextDepthMax = 128;

/** Together with the values of a body, what is translated without keeping others waiting. */
const jsonTextsValuesMax = 40_000;
/** So long texts count too: in all, they have at most 12.8 MB. */
const charactersPerTenth = 32;

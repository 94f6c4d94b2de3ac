import { isObject, listOf } from "./json.ts";

/**
 * Returns the milliseconds in the `google.rpc.RetryInfo` of an error body, Google's only form of `retry-after`. Null
 * without them. https://cloud.google.com/apis/design/errors
 */
export function readRetryInfoMs(body: unknown): number | null {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  const error = isObject(first) && isObject(first["error"]) ? first["error"] : first;
  if (!isObject(error)) return null;
  for (const detail of listOf(error["details"])) {
    if (!isObject(detail) || !String(detail["@type"]).endsWith("google.rpc.RetryInfo")) continue;
    const ms = readDurationMs(detail["retryDelay"]);
    if (ms !== null) return ms;
  }
  return null;
}

/** Reads protobuf's JSON form of a duration, such as `45.8s`, and its members. */
function readDurationMs(duration: unknown): number | null {
  if (isObject(duration)) {
    const { seconds = 0, nanos = 0 } = duration;
    const ms = Number(seconds) * 1000 + Number(nanos) / 1e6;
    return ms >= 0 && ms <= msMax ? ms : null;
  }
  const [, seconds] = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(typeof duration === "string" ? duration : "") ?? [];
  return seconds === undefined ? null : Number(seconds) * 1000;
}

const msMax = 1e12;

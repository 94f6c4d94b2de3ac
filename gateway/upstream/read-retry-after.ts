import type { UpstreamHeaders } from "./upstream-call.ts";

/**
 * Returns milliseconds from `retry-after-ms`, or from `retry-after` in seconds. Null if both are missing
 * or invalid. HTTP dates (RFC 9110, section 10.2.3) count as invalid.
 */
export function readRetryAfterMs(headers: UpstreamHeaders): number | null {
  return (
    readNumber(headers["retry-after-ms"], /^\d{1,12}(\.\d+)?$/) ??
    toMs(readNumber(headers["retry-after"], /^\d{1,9}(\.\d+)?$/))
  );
}

function readNumber(value: string | string[] | undefined, pattern: RegExp): number | null {
  const text = Array.isArray(value) ? value[0] : value;
  return text !== undefined && pattern.test(text) ? Number(text) : null;
}

function toMs(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1000;
}

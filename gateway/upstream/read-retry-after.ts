import type { UpstreamHeaders } from "./upstream-call.ts";

/**
 * How long an upstream asks to be left alone, in milliseconds; null where it does not say. `retry-after` in seconds, or
 * OpenAI's `retry-after-ms`. A date (RFC 9110, section 10.2.3) is left out: no upstream known here sends one.
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

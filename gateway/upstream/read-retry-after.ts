import type { UpstreamHeaders } from "./upstream-call.ts";

/**
 * Returns milliseconds from `retry-after-ms`, or from `retry-after` in seconds or as an HTTP date. Null if both are
 * missing or invalid. https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3
 * @param now milliseconds since 1970
 */
export function readRetryAfterMs(headers: UpstreamHeaders, now: number = Date.now()): number | null {
  return (
    readNumber(headers["retry-after-ms"], /^\d{1,12}(\.\d+)?$/, 1) ??
    readNumber(headers["retry-after"], /^\d{1,9}(\.\d+)?$/, 1000) ??
    readDate(headers["retry-after"], now)
  );
}

function readNumber(value: string | string[] | undefined, pattern: RegExp, unitMs: number): number | null {
  const text = textOf(value);
  return text !== undefined && pattern.test(text) ? Number(text) * unitMs : null;
}

/** A date in the past means no wait. */
function readDate(value: string | string[] | undefined, now: number): number | null {
  const text = textOf(value)?.trim() ?? "";
  if (!dateForms.some((form) => form.test(text))) return null;
  // The oldest form names no zone, and dates in HTTP are always in UTC.
  const time = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(time) ? null : Math.max(0, time - now);
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7 */
const dateForms = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];

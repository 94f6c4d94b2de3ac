import type { HttpLimits } from "./http-limits.ts";
import type { UpstreamHeaders } from "./upstream-call.ts";
import { brokenRule } from "./upstream-failure.ts";

export type AnswerHead = {
  status: number;
  /** Names in lower case. */
  headers: UpstreamHeaders;
  /** How the body ends: by length, by its last chunk, or with the connection. */
  end: number | "chunked" | "close";
  /** How long the connection may stay idle afterwards. 0 forbids reuse. */
  keepAliveMs: number;
};

/**
 * Strict: a different reading of a length would take part of one answer for the next.
 * @param text from the status line on, without the final empty line; one character a byte
 * https://www.rfc-editor.org/rfc/rfc9112.html#section-6.3
 */
export function parseAnswerHead(text: string, limits: HttpLimits): AnswerHead {
  if (forbidden.test(text)) throw brokenRule("its head contains a control character");
  const [statusLine = "", ...lines] = text.split("\r\n");
  const [, minorVersion, digits] = statusLineForm.exec(statusLine) ?? [];
  if (digits === undefined) throw brokenRule("its status line is invalid");
  const status = Number(digits);
  if (status === 101) throw brokenRule("it switches to another protocol");
  if (lines.length > limits.upstreamHeadFieldsMax) throw brokenRule("its head has too many fields");
  const headers = parseFields(lines);
  const isOld = minorVersion === "0";
  const announced = announcedEnd(headers, isOld);
  const hasNoBody = status === 204 || status === 304;
  // An upstream that announces a body where none is allowed may send one.
  const isLast = hasNoBody ? announced !== 0 && announced !== "close" : announced === "close";
  return {
    status,
    headers,
    end: hasNoBody ? 0 : announced,
    keepAliveMs: isLast ? 0 : keepAliveMs(headers, isOld, limits.upstreamKeepAliveTimeoutMs),
  };
}

/**
 * Whether these bytes can still become a head.
 * @param from start of the unchecked bytes
 */
export function canBecomeHead(bytes: Buffer, from: number): boolean {
  for (let at = bytes.indexOf("\n", from); at !== -1; at = bytes.indexOf("\n", at + 1)) {
    if (bytes[at - 1] !== carriageReturn) return false;
  }
  return version.startsWith(bytes.toString("latin1", 0, version.length));
}

function parseFields(lines: string[]): UpstreamHeaders {
  // Header names are arbitrary, including `__proto__`.
  const headers: UpstreamHeaders = Object.create(null);
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    if (!isToken(name)) throw brokenRule("its head contains a malformed field");
    const value = trimSpace(line, colon + 1);
    const before = headers[name];
    if (before === undefined) headers[name] = value;
    else if (typeof before === "string") headers[name] = [before, value];
    else before.push(value);
  }
  return headers;
}

/** Removes spaces and tabs only: `trim` removes more than HTTP allows. */
function trimSpace(line: string, from: number): string {
  let [start, end] = [from, line.length];
  while (isSpace(line.charCodeAt(start))) start++;
  while (end > start && isSpace(line.charCodeAt(end - 1))) end--;
  return line.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function announcedEnd(headers: UpstreamHeaders, isOld: boolean): AnswerHead["end"] {
  const encoding = headers["transfer-encoding"];
  const length = headers["content-length"];
  if (encoding !== undefined) {
    if (length !== undefined || isOld) throw brokenRule("it must not be chunked");
    if (String(encoding).toLowerCase() !== "chunked")
      throw brokenRule("its transfer-encoding is unsupported");
    return "chunked";
  }
  if (length === undefined) return "close";
  const [, digits] = lengthForm.exec(String(length)) ?? [];
  if (digits === undefined) throw brokenRule("invalid Content-Length");
  return Number(digits);
}

function keepAliveMs(headers: UpstreamHeaders, isOld: boolean, msMax: number): number {
  const { connection } = headers;
  if (isOld || connection !== undefined) {
    const options = String(connection)
      .toLowerCase()
      .split(",")
      .map((option) => trimSpace(option, 0));
    if (options.includes("close") || (isOld && !options.includes("keep-alive"))) return 0;
  }
  const [, seconds] = /(?:^|[,; \t])timeout=(\d{1,6})/i.exec(String(headers["keep-alive"] ?? "")) ?? [];
  if (seconds === undefined) return msMax;
  return Math.min(Math.max(Number(seconds) * 1000 - marginMs, 0), msMax);
}

const version = "HTTP/1.";
const carriageReturn = 0x0d;
// Some servers omit the space after a code without a phrase.
const statusLineForm = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?$/;
// oxlint-disable-next-line no-control-regex
const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|(?<!\r)\n/;
/** Repeated lengths must be identical. */
const lengthForm = /^(\d{1,15})(?:[ \t]*,[ \t]*\1)*$/;

/** The upstream starts its idle timer earlier than the gateway, by the time the answer travels. */
const marginMs = 2_000;

/** Whether the text is a valid header name: https://www.rfc-editor.org/rfc/rfc9110.html#section-5.6.2 */
export function isToken(text: string): boolean {
  return /^[!#$%&'*+\-.^_`|~\da-z]+$/i.test(text);
}

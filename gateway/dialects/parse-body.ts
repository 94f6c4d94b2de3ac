import { isUtf8 } from "node:buffer";
import { GatewayError } from "../errors.ts";
import {
  isObject,
  countValues,
  isKey,
  measureText,
  scanMembers,
  textSizeRatioMax,
  type VisitMember,
} from "../wire/json.ts";
import type { RequestMembers } from "./request-members.ts";

export type BodyLimits = Readonly<
  Record<"requestJsonDepthMax" | "requestJsonValuesMax" | "requestTextBytesMax", number>
>;

/**
 * Parses a request body and reports the positions of its members to `visit`. Throws `invalid_body`, also for
 * excessive nesting, and `request_too_large` for bodies that would block other requests.
 */
export function parseBody(bytes: Buffer, limits: BodyLimits, visit: VisitMember): Record<string, unknown> {
  const { requestJsonDepthMax, requestJsonValuesMax, requestTextBytesMax } = limits;
  if (!isUtf8(bytes)) throw new GatewayError("invalid_body", "The request body is not valid UTF-8.");
  const count = countValues(requestJsonValuesMax);
  const result = scanMembers(bytes, 0, bytes.length, requestJsonDepthMax, visit, count);
  // Rejected before the parser runs: megabytes of brackets would take it seconds.
  if (result === "not an object") {
    throw new GatewayError("invalid_body", "The request body is not a valid JSON object.");
  }
  if (result === "too deep") {
    throw new GatewayError(
      "invalid_body",
      `The request body is nested more than ${requestJsonDepthMax} levels deep. Flatten it.`,
    );
  }
  if (result === "too many values") {
    throw new GatewayError(
      "request_too_large",
      `The request body has more than ${requestJsonValuesMax} JSON values. Send fewer, or raise REQUEST_JSON_VALUES_MAX.`,
    );
  }
  const mayBeTooLarge = bytes.length * textSizeRatioMax > requestTextBytesMax;
  if (mayBeTooLarge && measureText(bytes, requestTextBytesMax) > requestTextBytesMax) {
    throw new GatewayError(
      "request_too_large",
      `The request body has more than ${requestTextBytesMax} bytes of text, without base64 media and with four bytes per escape. Send less text, or raise REQUEST_TEXT_BYTES_MAX.`,
    );
  }
  return parseObject(bytes);
}

/**
 * Parses a request body and finds the position of the model's name. It is null if a known member occurs
 * twice.
 */
export function parseModelBody(
  bytes: Buffer,
  limits: BodyLimits,
  members: RequestMembers,
): { body: Record<string, unknown>; modelRange: { start: number; end: number } | null } {
  let modelRange = { start: 0, end: 0 };
  const walked = { count: 0, bytes: 0 };
  const body = parseBody(bytes, limits, (keyStart, keyEnd, start, end) => {
    walked.count++;
    walked.bytes += keyEnd - keyStart;
    if (isKey(bytes, keyStart, keyEnd, "model")) modelRange = { start, end };
  });
  const isDoubled = members.check(bytes, body, walked);
  return { body, modelRange: isDoubled ? null : modelRange };
}

function parseObject(bytes: Buffer): Record<string, unknown> {
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString("utf8"));
  } catch (cause) {
    // The parser's message quotes the body, which may be confidential.
    throw new GatewayError("invalid_body", "The request body is not valid JSON.", { cause });
  }
  if (!isObject(body)) throw new GatewayError("invalid_body", "The request body must be a JSON object.");
  return body;
}

import { isUtf8 } from "node:buffer";
import { GatewayError } from "../errors.ts";
import { isObject } from "../wire/json.ts";
import {
  countValues,
  isKey,
  measureText,
  scanMembers,
  textSizeRatioMax,
  type VisitMember,
} from "../wire/json-layout.ts";
import type { RequestMembers } from "./request-members.ts";

export type BodyLimits = Readonly<
  Record<"requestJsonDepthMax" | "requestJsonValuesMax" | "requestTextBytesMax", number>
>;

/**
 * A request body as a value. On the way, `visit` is told where its members stand in the bytes. Throws `invalid_body`, also
 * for what is nested so deeply that later steps could not handle it, and `request_too_large` for what would take so long
 * that other requests wait.
 */
export function parseBody(bytes: Buffer, limits: BodyLimits, visit: VisitMember): Record<string, unknown> {
  const { requestJsonDepthMax, requestJsonValuesMax, requestTextBytesMax } = limits;
  if (!isUtf8(bytes)) throw new GatewayError("invalid_body", "The request body is not valid UTF-8.");
  const count = countValues(requestJsonValuesMax);
  const result = scanMembers(bytes, 0, bytes.length, requestJsonDepthMax, visit, count);
  // Said before the parser sees it: on megabytes of nonsense that is made of brackets it takes seconds.
  if (result === "not an object") {
    throw new GatewayError("invalid_body", "The request body is not valid JSON, or not an object.");
  }
  if (result === "too deep") {
    throw new GatewayError(
      "invalid_body",
      `The request body is nested deeper than ${requestJsonDepthMax} levels.`,
    );
  }
  if (result === "too many values") {
    throw new GatewayError(
      "request_too_large",
      `The request body has more than ${requestJsonValuesMax} JSON values. Send fewer, or raise REQUEST_JSON_VALUES_MAX of the gateway.`,
    );
  }
  const mayBeTooLarge = bytes.length * textSizeRatioMax > requestTextBytesMax;
  if (mayBeTooLarge && measureText(bytes, requestTextBytesMax) > requestTextBytesMax) {
    throw new GatewayError(
      "request_too_large",
      `The request body has more than ${requestTextBytesMax} bytes besides media in base64, where an escape counts as four. Send less text, or raise REQUEST_TEXT_BYTES_MAX of the gateway.`,
    );
  }
  return parseObject(bytes);
}

/** The same, and where the model's name stands; null when one of the members that are read occurs twice. */
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
    // The parser's own message quotes the body, which may hold anything.
    throw new GatewayError("invalid_body", "The request body is not valid JSON.", { cause });
  }
  if (!isObject(body)) throw new GatewayError("invalid_body", "The request body must be a JSON object.");
  return body;
}

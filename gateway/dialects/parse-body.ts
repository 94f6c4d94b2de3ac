import { isUtf8 } from "node:buffer";
import { GatewayError } from "../errors.ts";
import { hasInexactNumbers, keepExactParts, parseExactParts } from "../wire/exact-numbers.ts";
import { isObject, countValues, isKey, scanMembers, type VisitMember } from "../wire/json.ts";
import { longTextBytesMin, LongTexts, measureText } from "../wire/long-texts.ts";
import type { RequestMembers } from "./request-members.ts";
import { invalidType, invalidValue, missing } from "../wire/parameter-errors.ts";

export type BodyLimits = Readonly<
  Record<"requestJsonDepthMax" | "requestJsonValuesMax" | "requestTextBytesMax", number>
>;

/**
 * Parses a request body and reports the positions of its members to `visit`. Throws `invalid_body`, also for
 * excessive nesting, and `request_too_large` for bodies that would block other requests.
 */
export function parseBody(bytes: Buffer, limits: BodyLimits, visit: VisitMember): Record<string, unknown> {
  checkBody(bytes, limits, visit);
  return parseObject(bytes.toString("utf8"), parseExactParts);
}

export type OutlinedBody = {
  /** The parsed body with a placeholder for each long text, for checks. */
  outline: Record<string, unknown>;
  /** The first call may parse the whole body. */
  readWhole: () => Record<string, unknown>;
};

/**
 * Parses a body without its long texts, because a native request forwards long texts as bytes. Makes the same
 * checks as `parseBody`.
 */
function outlineBody(bytes: Buffer, limits: BodyLimits, visit: VisitMember): OutlinedBody {
  const texts = checkBody(bytes, limits, visit);
  const outline = parseObject(texts?.outline() ?? bytes.toString("utf8"));
  let whole: Record<string, unknown> | null = null;
  return { outline, readWhole: () => (whole ??= readExactly(bytes, texts, outline)) };
}

function readExactly(
  bytes: Buffer,
  texts: LongTexts | null,
  outline: Record<string, unknown>,
): Record<string, unknown> {
  const text = bytes.toString("utf8");
  const whole = texts ? parseObject(text) : outline;
  // A long text contains no numbers, but may look as if.
  if (hasInexactNumbers(texts?.outline() ?? text)) keepExactParts(whole, text);
  return whole;
}

/** Checks the encoding, the limits and the long texts, but not all syntax. Returns null for a short body. */
function checkBody(bytes: Buffer, limits: BodyLimits, visit: VisitMember): LongTexts | null {
  const { requestJsonDepthMax, requestJsonValuesMax, requestTextBytesMax } = limits;
  if (!isUtf8(bytes))
    throw new GatewayError("invalid_body", "The request body is not valid UTF-8. Encode it as UTF-8.");
  const count = countValues(requestJsonValuesMax);
  const texts = bytes.length > longTextBytesMin ? new LongTexts(bytes) : null;
  const result = scanMembers(bytes, 0, bytes.length, requestJsonDepthMax, visit, count, texts);
  if (result === "not an object") {
    throw new GatewayError("invalid_body", "The request body is not a valid JSON object. Check its syntax.");
  }
  // `JSON.parse` would need seconds for megabytes of nested brackets.
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
  // The measurement is slow, so it is skipped if the upper bound is within the limit.
  const mayBeTooLarge = (texts?.textSizeMax ?? 0) > requestTextBytesMax;
  if (mayBeTooLarge && measureText(bytes, requestTextBytesMax) > requestTextBytesMax) {
    throw new GatewayError(
      "request_too_large",
      `The request body contains more than ${requestTextBytesMax} bytes of text. Send less text, or raise REQUEST_TEXT_BYTES_MAX.`,
    );
  }
  return texts;
}

/**
 * Outlines a request body and finds the position of the model's name. The position is null if a known member occurs
 * twice.
 * @param visit receives the positions of all other members
 */
export function outlineModelBody(
  bytes: Buffer,
  limits: BodyLimits,
  members: RequestMembers,
  visit?: VisitMember,
): OutlinedBody & { modelRange: ByteRange | null } {
  let modelRange: ByteRange = { start: 0, end: 0 };
  const walked = { count: 0, bytes: 0 };
  const { outline, readWhole } = outlineBody(bytes, limits, (keyStart, keyEnd, start, end) => {
    walked.count++;
    walked.bytes += keyEnd - keyStart;
    if (isKey(bytes, keyStart, keyEnd, "model")) modelRange = { start, end };
    else visit?.(keyStart, keyEnd, start, end);
  });
  const isDoubled = members.check(bytes, outline, walked);
  return { outline, readWhole, modelRange: isDoubled ? null : modelRange };
}

export type ByteRange = { start: number; end: number };

function parseObject(text: string, parse: (text: string) => unknown = JSON.parse): Record<string, unknown> {
  let body: unknown;
  try {
    body = parse(text);
  } catch (cause) {
    // The parser's message quotes the body, which may be confidential.
    throw new GatewayError("invalid_body", "The request body is not valid JSON. Check its syntax.", {
      cause,
    });
  }
  if (!isObject(body))
    throw new GatewayError("invalid_body", "The request body is not a JSON object. Send an object.");
  return body;
}

/**
 * Throws a `GatewayError` for an invalid parameter. The checks are handwritten, because every request waits
 * for them. Each check has a JSON Schema for the API description.
 */
export type ParameterCheck = {
  (value: unknown, name: string): void;
  readonly schema: JsonSchema;
};

/** https://json-schema.org/draft/2020-12 */
export type JsonSchema = Readonly<Record<string, unknown>>;

type Parameters = readonly (readonly [name: string, check: ParameterCheck])[];

/** A test compares the schema with the handwritten check. */
export function parameterCheck(
  schema: JsonSchema,
  check: (value: unknown, name: string) => void,
): ParameterCheck {
  return Object.assign(check, { schema });
}

export function ofType(type: "boolean" | "string", expected: string): ParameterCheck {
  return parameterCheck({ type }, (value, name) => {
    if (typeof value !== type) throw invalidType(name, expected, value);
  });
}

export const anObject = parameterCheck({ type: "object" }, (value, name) => {
  if (!isObject(value)) throw invalidType(name, "an object", value);
});

export const objects = parameterCheck({ type: "array", items: anObject.schema }, (value, name) => {
  if (!Array.isArray(value)) throw invalidType(name, "an array of objects", value);
  checkObjects(value, name);
});

export const strings = parameterCheck({ type: "array", items: { type: "string" } }, (value, name) => {
  if (!Array.isArray(value)) throw invalidType(name, "an array of strings", value);
  const index = value.findIndex((item) => typeof item !== "string");
  if (index !== -1) throw invalidType(`${name}[${index}]`, "a string", value[index]);
});

export function checkObjects(items: unknown[], name: string): void {
  const index = items.findIndex((item) => !isObject(item));
  if (index !== -1) throw invalidType(`${name}[${index}]`, "an object", items[index]);
}

export function numberBetween(least: number, most: number): ParameterCheck {
  return parameterCheck({ type: "number", minimum: least, maximum: most }, (value, name) => {
    if (typeof value !== "number") throw invalidType(name, "a number", value);
    if (!(value >= least && value <= most))
      throw invalidValue(name, `must be between ${least} and ${most}`, value);
  });
}

export function integerFrom(least: number): ParameterCheck {
  return parameterCheck({ type: "integer", minimum: least }, (value, name) => {
    checkInteger(value, name);
    if (value < least) throw invalidValue(name, `must be at least ${least}`, value);
  });
}

export function integerBetween(least: number, most: number): ParameterCheck {
  return parameterCheck({ type: "integer", minimum: least, maximum: most }, (value, name) => {
    checkInteger(value, name);
    if (value < least || value > most)
      throw invalidValue(name, `must be between ${least} and ${most}`, value);
  });
}

function checkInteger(value: unknown, name: string): asserts value is number {
  if (!Number.isInteger(value)) throw invalidType(name, "an integer", value);
}

export const aModel = ofType("string", "a string");

/** Throws `missing_required_parameter` for a missing parameter. */
export function checkRequired(body: Record<string, unknown>, parameters: Parameters): void {
  for (const [name, check] of parameters) {
    const value = body[name];
    if (value === undefined) throw missing(name);
    check(value, name);
  }
}

/** Null counts as missing. */
export function checkOptional(body: Record<string, unknown>, parameters: Parameters): void {
  for (const [name, check] of parameters) {
    const value = body[name];
    if (value !== undefined && value !== null) check(value, name);
  }
}

/** The schema of an endpoint's requests. Parameters without a check may have any value. */
export type RequestSchema<Name extends string = string> = JsonSchema & {
  required: readonly string[];
  properties: Readonly<Record<Name, JsonSchema>>;
};

type ParametersNamed<Name extends string> = readonly (readonly [name: Name, check: ParameterCheck])[];

export function requestSchema<Required extends string, Optional extends string>(
  required: ParametersNamed<Required>,
  optional: ParametersNamed<Optional>,
): RequestSchema<Required | Optional> {
  const properties = Object.fromEntries([
    ...required.map(([name, { schema }]) => [name, schema]),
    ...optional.map(([name, { schema }]) => [name, orNull(schema)]),
  ]) as Record<Required | Optional, JsonSchema>;
  return { type: "object", required: required.map(([name]) => name), properties };
}

/** Optional parameters may be null. */
function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values, anyOf } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: "null" }] };
  if (Array.isArray(values)) return { ...schema, enum: [...values, null] };
  return { ...schema, type: Array.isArray(type) ? [...type, "null"] : [type, "null"] };
}

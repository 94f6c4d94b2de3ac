import { GatewayError } from "../errors.ts";
import { isObject } from "./json.ts";

export function missing(param: string): GatewayError {
  return new GatewayError(
    "missing_required_parameter",
    `Missing required parameter: '${param}'. Add it to the request.`,
    { param },
  );
}

/** @param expected such as `a string` */
export function invalidType(param: string, expected: string, value: unknown): GatewayError {
  if (value === undefined) return new GatewayError("invalid_type", missing(param).message, { param });
  const actual =
    value === null
      ? "null"
      : Array.isArray(value)
        ? "an array"
        : typeof value === "number" && !Number.isInteger(value)
          ? "a decimal number"
          : `${typeof value === "object" ? "an" : "a"} ${typeof value}`;
  return new GatewayError(
    "invalid_type",
    `Invalid type for '${param}': expected ${expected}, but got ${actual} instead. Send ${expected}.`,
    { param },
  );
}

/**
 * The error for a wrong value of the right type.
 * @param rule such as `must be at least 1`
 * @param value only for parameters that cannot hold content, names or keys
 */
export function invalidValue(param: string, rule: string, value?: unknown): GatewayError {
  const message = `Invalid value for '${param}'${quote(value)}. It ${rule}.`;
  return new GatewayError("invalid_value", message, { param });
}

/** Quotes no text with spaces, which could be part of a prompt, and no long word, which could be an API key. */
function quote(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean") return `: ${value}`;
  return typeof value === "string" && /^[\w.+/-]{0,40}$/.test(value) ? `: "${value}"` : "";
}

/** Returns a part of the request as the expected type, or throws `invalid_type`. */
type ExpectType<T> = (value: unknown, param: string) => T;

function expecting<T>(expected: string, isExpected: (value: unknown) => value is T): ExpectType<T> {
  return (value, param) => {
    if (!isExpected(value)) throw invalidType(param, expected, value);
    return value;
  };
}

export const expectString = expecting("a string", (value): value is string => typeof value === "string");
export const expectNumber = expecting("a number", (value): value is number => typeof value === "number");
export const expectBoolean = expecting("a boolean", (value): value is boolean => typeof value === "boolean");
export const expectObject = expecting("an object", isObject);
export const expectArray = expecting("an array", (value): value is unknown[] => Array.isArray(value));

/** `null` counts as absent, as in OpenAI's API. */
export function ifGiven<T>(value: unknown, param: string, expectType: ExpectType<T>): T | undefined {
  return value === undefined || value === null ? undefined : expectType(value, param);
}

/** Omits the members that are absent or `null`. */
export function given(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== null),
  );
}

/**
 * The error for an unsupported parameter that would change the answer. Clients search the message for
 * OpenAI's words, such as `Unsupported parameter: 'max_tokens'`.
 * @param param the position in the request, such as `messages[0].content[1]`
 * @param why the reason and the advice, such as `Gemini has no equivalent. Remove the parameter.`
 */
export function unsupported(param: string, why: string): GatewayError {
  const message = `Unsupported parameter: '${param}', because ${why}`;
  return new GatewayError("unsupported_parameter", message, { param });
}

/**
 * @param why the reason and the advice, such as `Claude has no such format. Use json_schema.`
 * @param value only for parameters that cannot hold content, names or keys
 */
export function unsupportedValue(param: string, why: string, value?: unknown): GatewayError {
  const message = `Unsupported value for '${param}'${quote(value)}, because ${why}`;
  return new GatewayError("unsupported_parameter", message, { param });
}

import { isObject } from "../wire/json.ts";
import { invalidType, invalidValue, missing } from "../wire/parameter-errors.ts";

/**
 * Throws `invalid_type` or `invalid_value` for an invalid parameter. The checks are handwritten, because
 * every request waits for them. Each check has a JSON Schema for the API description.
 */
export type ParameterCheck = {
  (value: unknown, name: string): void;
  readonly schema: JsonSchema;
};

/** https://json-schema.org/draft/2020-12 */
export type JsonSchema = Readonly<Record<string, unknown>>;

export type Parameters = readonly (readonly [name: string, check: ParameterCheck])[];

/** A handwritten check and its schema. A test compares the two. */
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

export const anArray = parameterCheck({ type: "array" }, (value, name) => {
  if (!Array.isArray(value)) throw invalidType(name, "an array", value);
});

export function numberBetween(least: number, most: number): ParameterCheck {
  return parameterCheck({ type: "number", minimum: least, maximum: most }, (value, name) => {
    if (typeof value !== "number") throw invalidType(name, "a number", value);
    if (!(value >= least && value <= most)) throw invalidValue(name, `must be between ${least} and ${most}`);
  });
}

export function integerFrom(least: number): ParameterCheck {
  return parameterCheck({ type: "integer", minimum: least }, (value, name) => {
    checkInteger(value, name);
    if (value < least) throw invalidValue(name, `must be at least ${least}`);
  });
}

export function integerBetween(least: number, most: number): ParameterCheck {
  return parameterCheck({ type: "integer", minimum: least, maximum: most }, (value, name) => {
    checkInteger(value, name);
    if (value < least || value > most) throw invalidValue(name, `must be between ${least} and ${most}`);
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

/** Checks a present parameter. Null counts as missing. */
export function checkOptional(body: Record<string, unknown>, parameters: Parameters): void {
  for (const [name, check] of parameters) {
    const value = body[name];
    if (value !== undefined && value !== null) check(value, name);
  }
}

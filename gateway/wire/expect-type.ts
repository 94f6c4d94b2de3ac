import { isObject } from "./json.ts";
import { invalidType } from "./parameter-errors.ts";

/** Returns a part of the request as the expected type, or throws `invalid_type`. */
type ExpectType<T> = (value: unknown, param: string) => T;

export const expectString: ExpectType<string> = (value, param) => {
  if (typeof value !== "string") throw invalidType(param, "a string", value);
  return value;
};

export const expectNumber: ExpectType<number> = (value, param) => {
  if (typeof value !== "number") throw invalidType(param, "a number", value);
  return value;
};

export const expectBoolean: ExpectType<boolean> = (value, param) => {
  if (typeof value !== "boolean") throw invalidType(param, "a boolean", value);
  return value;
};

export const expectObject: ExpectType<Record<string, unknown>> = (value, param) => {
  if (!isObject(value)) throw invalidType(param, "an object", value);
  return value;
};

export const expectArray: ExpectType<unknown[]> = (value, param) => {
  if (!Array.isArray(value)) throw invalidType(param, "an array", value);
  return value;
};

/** `null` counts as absent, as in OpenAI's API. */
export function ifGiven<T>(value: unknown, param: string, expectType: ExpectType<T>): T | undefined {
  return value === undefined || value === null ? undefined : expectType(value, param);
}

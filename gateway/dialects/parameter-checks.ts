import { isObject } from "../wire/chat-completion.ts";
import { invalidType, invalidValue, missing } from "../wire/parameter-errors.ts";

/** Throws `invalid_type` or `invalid_value` for a parameter that cannot be right. */
export type ParameterCheck = (value: unknown, name: string) => void;

export function ofType(type: string, expected: string): ParameterCheck {
  return (value, name) => {
    if (typeof value !== type) throw invalidType(name, expected, value);
  };
}

export function anObject(value: unknown, name: string): void {
  if (!isObject(value)) throw invalidType(name, "an object", value);
}

export function anArray(value: unknown, name: string): void {
  if (!Array.isArray(value)) throw invalidType(name, "an array", value);
}

export function numberBetween(least: number, most: number): ParameterCheck {
  return (value, name) => {
    if (typeof value !== "number") throw invalidType(name, "a number", value);
    if (!(value >= least && value <= most)) throw invalidValue(name, `must be between ${least} and ${most}`);
  };
}

export function integerFrom(least: number): ParameterCheck {
  return (value, name) => {
    if (!Number.isInteger(value)) throw invalidType(name, "an integer", value);
    if ((value as number) < least) throw invalidValue(name, `must be at least ${least}`);
  };
}

/** Checks what is there; a parameter that is null counts as not given. */
export function checkOptional(
  body: Record<string, unknown>,
  parameters: readonly (readonly [name: string, check: ParameterCheck])[],
): void {
  for (const [name, check] of parameters) {
    const value = body[name];
    if (value !== undefined && value !== null) check(value, name);
  }
}

export function checkModel(model: unknown): void {
  if (model === undefined) throw missing("model");
  if (typeof model !== "string") throw invalidType("model", "a string", model);
}

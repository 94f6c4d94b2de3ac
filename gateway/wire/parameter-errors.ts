import { GatewayError } from "../errors.ts";

export function missing(param: string): GatewayError {
  return new GatewayError("missing_required_parameter", `Missing required parameter: '${param}'.`, { param });
}

/** @param expected such as `a string` */
export function invalidType(param: string, expected: string, value: unknown): GatewayError {
  const actual =
    value === undefined
      ? "nothing"
      : value === null
        ? "null"
        : Array.isArray(value)
          ? "an array"
          : `${typeof value === "object" ? "an" : "a"} ${typeof value}`;
  return new GatewayError(
    "invalid_type",
    `Invalid type for '${param}': expected ${expected}, but got ${actual} instead.`,
    { param },
  );
}

/**
 * The error for a wrong value of the right type.
 * @param rule such as `must be at least 1`
 */
export function invalidValue(param: string, rule: string): GatewayError {
  return new GatewayError("invalid_value", `Invalid value for '${param}': it ${rule}.`, { param });
}

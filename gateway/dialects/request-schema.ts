import type { JsonSchema, ParameterCheck } from "./parameter-checks.ts";

/** The schema of an endpoint's requests: the checked parameters, and any others. */
export type RequestSchema<Name extends string = string> = JsonSchema & {
  required: readonly string[];
  properties: Readonly<Record<Name, JsonSchema>>;
};

type ParametersNamed<Name extends string> = readonly (readonly [name: Name, check: ParameterCheck])[];

/** Builds a JSON Schema from the lists of checks. */
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

/** A null parameter counts as missing. */
function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values, anyOf } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: "null" }] };
  if (Array.isArray(values)) return { ...schema, enum: [...values, null] };
  return { ...schema, type: Array.isArray(type) ? [...type, "null"] : [type, "null"] };
}

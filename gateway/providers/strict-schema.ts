import { isObject } from "../wire/json.ts";

/**
 * Reduces a JSON schema to the subset that Anthropic enforces, and describes the removed constraints. The API rejects
 * `additionalProperties: true`, but the value stays, because another value would change the schema's meaning.
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
 */
export function toStrictSchema(schema: Record<string, unknown>): Record<string, unknown> {
  const strict: Record<string, unknown> = {};
  const notes: string[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (isBeyond(keyword, value)) notes.push(`${keyword}: ${JSON.stringify(value)}`);
    else strict[keyword === "oneOf" ? "anyOf" : keyword] = toStrictValue(keyword, value);
  }
  if (describesObject(schema)) strict["additionalProperties"] ??= false;
  if (notes.length > 0) {
    const { description } = schema;
    const rules = `(${notes.join(", ")})`;
    strict["description"] = typeof description === "string" ? `${description} ${rules}` : rules;
  }
  return strict;
}

/** The APIs of Anthropic and Bedrock require the type `object` at the root of a tool's schema. */
export function rootOfTool(parameters: Record<string, unknown> = {}): Record<string, unknown> {
  const { type: _type, ...schema } = parameters;
  return { type: "object", ...schema };
}

function toStrictValue(keyword: string, value: unknown): unknown {
  if (schemaMaps.has(keyword) && isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, toStrict(schema)]));
  }
  if (schemaLists.has(keyword) && Array.isArray(value)) return value.map(toStrict);
  return keyword === "items" ? toStrict(value) : value;
}

function toStrict(schema: unknown): unknown {
  return isObject(schema) ? toStrictSchema(schema) : schema;
}

function describesObject({ type, properties }: Record<string, unknown>): boolean {
  return type === "object" || (Array.isArray(type) && type.includes("object")) || isObject(properties);
}

function isBeyond(keyword: string, value: unknown): boolean {
  if (keyword === "minItems") return value !== 0 && value !== 1;
  if (keyword === "format") return typeof value === "string" && !formats.has(value);
  return constraints.has(keyword);
}

const schemaMaps = new Set(["properties", "$defs", "definitions"]);
const schemaLists = new Set(["anyOf", "oneOf", "allOf"]);
const constraints = new Set([
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
]);
const formats = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "uri",
  "ipv4",
  "ipv6",
  "uuid",
]);

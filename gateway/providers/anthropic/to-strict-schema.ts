import { isObject } from "../../wire/chat-completion.ts";

/**
 * A JSON schema in the part of the language that Anthropic can hold a model to. What is beyond it would be refused, so it is
 * said in the description instead, as Anthropic's own SDKs do. Objects must be closed; one that the client has opened
 * itself stays so, for the API to refuse: closing it would change what it means.
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
 */
export function toStrictSchema(schema: Record<string, unknown>): Record<string, unknown> {
  const strict: Record<string, unknown> = {};
  const said: string[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (isBeyond(keyword, value)) said.push(`${keyword}: ${JSON.stringify(value)}`);
    else strict[keyword === "oneOf" ? "anyOf" : keyword] = toStrictValue(keyword, value);
  }
  if (describesObject(schema)) strict["additionalProperties"] ??= false;
  if (said.length > 0) {
    const { description } = schema;
    const rules = `(${said.join(", ")})`;
    strict["description"] = typeof description === "string" ? `${description} ${rules}` : rules;
  }
  return strict;
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

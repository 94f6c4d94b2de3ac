import { isObject } from "../../wire/chat-completion.ts";

/** The simplest value that a JSON schema describes: the first of an enumeration, only what is required, empty text. */
export function sampleJson(schema: unknown, depth = 0): unknown {
  if (!isObject(schema) || depth > depthMax) return null;
  if ("const" in schema) return schema["const"];
  if ("default" in schema) return schema["default"];
  for (const choice of [schema["enum"], schema["examples"]]) {
    if (Array.isArray(choice) && choice.length > 0) return choice[0];
  }
  for (const choice of [schema["anyOf"], schema["oneOf"], schema["allOf"]]) {
    if (Array.isArray(choice) && choice.length > 0) return sampleJson(choice[0], depth + 1);
  }
  const type = Array.isArray(schema["type"]) ? schema["type"][0] : schema["type"];
  if (type === "object" || isObject(schema["properties"])) return sampleObject(schema, depth);
  if (type === "array") return sampleArray(schema, depth);
  if (type === "number" || type === "integer")
    return typeof schema["minimum"] === "number" ? schema["minimum"] : 0;
  if (type === "boolean") return true;
  return type === "string" ? "demo" : null;
}

const depthMax = 16;

function sampleObject(schema: Record<string, unknown>, depth: number): Record<string, unknown> {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"])
    ? schema["required"].filter((name) => typeof name === "string")
    : [];
  return Object.fromEntries(required.map((name) => [name, sampleJson(properties[name], depth + 1)]));
}

function sampleArray(schema: Record<string, unknown>, depth: number): unknown[] {
  const wanted = typeof schema["minItems"] === "number" ? Math.min(schema["minItems"], 8) : 0;
  return Array.from({ length: wanted }, () => sampleJson(schema["items"], depth + 1));
}

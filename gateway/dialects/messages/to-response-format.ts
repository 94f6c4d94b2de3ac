import { isObject } from "../../wire/chat-completion.ts";
import { expectObject, expectString, ifGiven } from "../../wire/expect-type.ts";
import { unsupported } from "../../wire/unsupported.ts";

/**
 * The schema of the answer. `output_format` is what it was called in beta.
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
export function toResponseFormat(body: Record<string, unknown>): object | undefined {
  const { format: given } = ifGiven(body["output_config"], "output_config", expectObject) ?? {};
  const isOld = given === undefined || given === null;
  const param = isOld ? "output_format" : "output_config.format";
  const format = ifGiven(isOld ? body["output_format"] : given, param, expectObject);
  if (format === undefined) return undefined;
  if (expectString(format["type"], `${param}.type`) !== "json_schema") {
    throw unsupported(`${param}.type`, "Only json_schema is known.");
  }
  const schema = expectObject(format["schema"], `${param}.schema`);
  return { type: "json_schema", json_schema: { name: "answer", schema, strict: isStrict(schema) } };
}

/**
 * Whether OpenAI would take the schema as a strict one: it refuses those with optional or further properties, which
 * Anthropic takes. https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
 */
function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (!isObject(schema)) return true;
  const { properties, required, additionalProperties } = schema;
  if (schema["type"] === "object" || isObject(properties)) {
    const names = isObject(properties) ? Object.keys(properties) : [];
    if (additionalProperties !== false || !Array.isArray(required)) return false;
    const requiredNames = new Set<unknown>(required);
    if (!names.every((name) => requiredNames.has(name))) return false;
    if (isObject(properties) && !Object.values(properties).every(isStrict)) return false;
  }
  return Object.entries(schema).every(([keyword, value]) => keyword === "properties" || isStrict(value));
}

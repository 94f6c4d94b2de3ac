import { isObject } from "../../wire/json.ts";

/**
 * Builds a sample value for a JSON schema, with required members only. A budget limits the size, because nested
 * arrays multiply.
 */
export function sampleJson(schema: unknown): unknown {
  return sampleValue(schema, { depth: 0, budget: { valuesLeft: valuesMax, charactersLeft: charactersMax } });
}

type Position = { depth: number; budget: { valuesLeft: number; charactersLeft: number } };

const valuesMax = 1_000;
const charactersMax = 100_000;
const depthMax = 16;

function sampleValue(schema: unknown, position: Position): unknown {
  if (position.budget.valuesLeft-- <= 0 || position.depth > depthMax || !isObject(schema)) return null;
  if ("const" in schema) return copyOf(schema["const"], position);
  if ("default" in schema) return copyOf(schema["default"], position);
  for (const choice of [schema["enum"], schema["examples"]]) {
    if (Array.isArray(choice) && choice.length > 0) return copyOf(choice[0], position);
  }
  const below = { ...position, depth: position.depth + 1 };
  for (const choice of [schema["anyOf"], schema["oneOf"], schema["allOf"]]) {
    if (Array.isArray(choice) && choice.length > 0) return sampleValue(choice[0], below);
  }
  const type = Array.isArray(schema["type"]) ? schema["type"][0] : schema["type"];
  if (type === "object" || isObject(schema["properties"])) return sampleObject(schema, below);
  if (type === "array") return sampleArray(schema, below);
  if (type === "number" || type === "integer")
    return typeof schema["minimum"] === "number" ? schema["minimum"] : 0;
  if (type === "boolean") return true;
  return type === "string" ? "demo" : null;
}

/** Counts a literal value against the budget, because the value can be as large as the request. */
function copyOf(value: unknown, { budget }: Position): unknown {
  budget.charactersLeft -= JSON.stringify(value).length;
  if (budget.charactersLeft >= 0) return value;
  budget.valuesLeft = 0;
  return null;
}

function sampleObject(schema: Record<string, unknown>, position: Position): Record<string, unknown> {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const sample = new Map<string, unknown>();
  for (const name of required) {
    if (position.budget.valuesLeft <= 0) break;
    if (typeof name === "string" && !sample.has(name)) {
      sample.set(name, sampleValue(properties[name], position));
    }
  }
  return Object.fromEntries(sample);
}

function sampleArray(schema: Record<string, unknown>, position: Position): unknown[] {
  const minItems = typeof schema["minItems"] === "number" ? Math.min(schema["minItems"], itemsMax) : 0;
  const sample: unknown[] = [];
  while (sample.length < minItems && position.budget.valuesLeft > 0) {
    sample.push(sampleValue(schema["items"], position));
  }
  return sample;
}

const itemsMax = 8;

import { type Inputs, unknown, type Value } from "./graph.ts";

/** Converts values with the markers of @pulumi/pulumi/runtime/rpc to `Value`, and sorts the fields by name. */
export function readInputs(fields: Record<string, unknown>): Inputs {
  const names = Object.keys(fields).toSorted();
  return Object.fromEntries(names.map((name) => [name, readValue(fields[name])]));
}

function readValue(value: unknown): Value {
  if (value === unknownMarker || value === undefined) return value === undefined ? null : unknown;
  if (value === null || typeof value !== "object") return value as Value;
  if (Array.isArray(value)) return value.map(readValue);
  const { [marker]: kind, ...fields } = value as Record<string, unknown>;
  if (kind === secretKind) return { $secret: readValue(fields["value"]) };
  if (kind === outputKind) {
    const inner = "value" in fields ? readValue(fields["value"]) : unknown;
    return fields["secret"] === true ? { $secret: inner } : inner;
  }
  if (kind === resourceKind) return String(fields["urn"]);
  return readInputs(fields);
}

const marker = "4dabf18193072939515e22adb298388d";
const secretKind = "1b47061264138c4ac30d75fd1eb44270";
const outputKind = "d0e6a833031e9bbcd3f4e8bde6ca49a4";
const resourceKind = "5cf8f73096256a8f31e491e813e4eb8e";
const unknownMarker = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** A request that a vendor does not take, and why; each vendor has a form of its own to say it in. */
export class VendorRefusal extends Error {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

export type RefusalReason = "invalid" | "unauthenticated" | "rate limited" | "not found" | "overloaded";

export type Fields = Record<string, unknown>;

/** For use as a statement: what is not so is refused. */
export function demand(condition: boolean, message: string): asserts condition {
  if (!condition) throw new VendorRefusal("invalid", message);
}

export function readJson(text: string): Fields {
  try {
    return asFields(JSON.parse(text), "the body");
  } catch {
    throw new VendorRefusal("invalid", "The body is not a JSON object.");
  }
}

export function asFields(value: unknown, where: string): Fields {
  demand(
    typeof value === "object" && value !== null && !Array.isArray(value),
    `${where}: Input should be an object`,
  );
  return value as Fields;
}

export function asList(value: unknown, where: string): unknown[] {
  demand(Array.isArray(value), `${where}: Input should be a list`);
  return value;
}

/** A list that may be missing. */
export function asOptionalList(value: unknown, where: string): unknown[] {
  return value === undefined ? [] : asList(value, where);
}

export function asText(value: unknown, where: string): string {
  demand(typeof value === "string", `${where}: Input should be a string`);
  return value;
}

export function asOptionalNumber(value: unknown, where: string): number | null {
  if (value === undefined) return null;
  demand(typeof value === "number", `${where}: Input should be a number`);
  return value;
}

/** Vendors other than OpenAI refuse members that they do not know. */
export function onlyKnown(fields: Fields, names: string, refusal: (name: string) => string): void {
  const known = new Set(names.split(" "));
  for (const name of Object.keys(fields)) demand(known.has(name), refusal(name));
}

/** Structured output and strict tools want every object of a schema to say that it has no other members. */
export function demandClosed(schema: unknown, where: string): void {
  if (typeof schema !== "object" || schema === null) return;
  const { type, additionalProperties } = schema as Fields;
  demand(
    type !== "object" || additionalProperties === false,
    `${where}: For 'object' type, 'additionalProperties' must be explicitly set to false`,
  );
  for (const each of Object.values(schema)) demandClosed(each, where);
}

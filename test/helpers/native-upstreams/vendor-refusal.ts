/** A vendor's rejection of a request. Each vendor formats it differently. */
export class VendorRefusal extends Error {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

export type RefusalReason = "invalid" | "unauthenticated" | "rate limited" | "not found" | "overloaded";

export type Fields = Record<string, unknown>;

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

export function asOptionalList(value: unknown, where: string): unknown[] {
  return value === undefined ? [] : asList(value, where);
}

export function asText(value: unknown, where: string): string {
  demand(typeof value === "string", `${where}: Input should be a string`);
  return value;
}

export function readDataUrl(value: unknown, where: string): { image: string; mediaType: string } {
  const [, mediaType, image] = /^data:([^;,]+);base64,(.+)$/.exec(asText(value, where)) ?? [];
  demand(mediaType !== undefined && image !== undefined, `${where}: Failed to download the file.`);
  return { image, mediaType };
}

export function asOptionalNumber(value: unknown, where: string): number | null {
  if (value === undefined) return null;
  demand(typeof value === "number", `${where}: Input should be a number`);
  return value;
}

/** Every API except OpenAI's chat completions rejects unknown members. */
export function onlyKnown(fields: Fields, names: string, refusal: (name: string) => string): void {
  const known = new Set(names.split(" "));
  for (const name of Object.keys(fields)) demand(known.has(name), refusal(name));
}

/** Structured output and strict tools require `additionalProperties: false` in every object. */
export function demandClosed(schema: unknown, where: string): void {
  if (typeof schema !== "object" || schema === null) return;
  const { type, additionalProperties } = schema as Fields;
  demand(
    type !== "object" || additionalProperties === false,
    `${where}: For 'object' type, 'additionalProperties' must be explicitly set to false`,
  );
  for (const each of Object.values(schema)) demandClosed(each, where);
}

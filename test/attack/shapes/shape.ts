import type { DialectName } from "../request-pipelines.ts";

/** A body that grows with a count, in one of the ways in which a request can be large. */
export type Shape = {
  name: string;
  dialects: readonly DialectName[];
  /** A value, or the text of the body itself. */
  body(count: number): object | string;
};

export function times<Item>(count: number, item: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => item(index));
}

export function members(count: number, value: (index: number) => unknown): Record<string, unknown> {
  return Object.fromEntries(times(count, (index) => [`name_${index}`, value(index)]));
}

export function toBytes(body: object | string): Buffer {
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

/** A shape's body of about so many bytes. */
export function bodyOf(shape: Shape, bytes: number): Buffer {
  return toBytes(shape.body(countFor(shape, bytes)));
}

/** How many items make a body of about so many bytes. */
export function countFor({ body }: Shape, bytes: number): number {
  const few = toBytes(body(100)).length;
  const perItem = (toBytes(body(1_100)).length - few) / 1_000;
  return Math.max(1, Math.floor((bytes - few) / perItem) + 100);
}

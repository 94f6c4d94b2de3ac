import type { DialectName } from "../request-pipelines.ts";

/** A kind of request body. One part of the body, such as its messages, grows with `count`. */
export type Shape = {
  name: string;
  dialects: readonly DialectName[];
  /** Returns the body as a value, or as its JSON text. */
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

/**
 * Returns the `count` for which `measure` returns about `most`, or Infinity if the body does not grow. By default,
 * `measure` counts bytes.
 */
export function countFor(
  { body }: Shape,
  most: number,
  measure: (bytes: Buffer) => number = (bytes) => bytes.length,
): number {
  const few = measure(toBytes(body(fewItems)));
  const perItem = (measure(toBytes(body(2 * fewItems))) - few) / fewItems;
  return perItem <= 0 ? Infinity : Math.max(1, Math.floor((most - few) / perItem) + fewItems);
}

const fewItems = 1_200;

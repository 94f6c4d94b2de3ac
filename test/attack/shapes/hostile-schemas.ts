/** Response formats for which a naive sample would be huge. */
const nestedArrays = (depth: number): object =>
  depth === 0 ? { type: "string" } : { type: "array", minItems: 8, items: nestedArrays(depth - 1) };

const large = "x".repeat(50_000);

export const hostileSchemas: Record<string, object> = {
  "arrays nested to a depth of 16": nestedArrays(16),
  "arrays of large constants": { type: "array", minItems: 8, items: { ...nestedArrays(3), const: large } },
  "nested arrays of large defaults": {
    type: "array",
    minItems: 8,
    items: { type: "array", minItems: 8, items: { default: large } },
  },
  "a repeated required name": {
    type: "object",
    properties: { a: nestedArrays(8) },
    required: Array.from({ length: 20_000 }, () => "a"),
  },
  "many required names": {
    type: "object",
    required: Array.from({ length: 50_000 }, (_, index) => `name_${index}`),
  },
};

import { members, type Shape, times } from "./shape.ts";

const schemaShapes: Record<string, (count: number) => Record<string, unknown>> = {
  properties: (count) => closed(members(count, () => ({ type: "string" }))),
  "required names": (count) => {
    const properties = members(count, () => ({ type: "string", minLength: 1 }));
    return { ...closed(properties), required: Object.keys(properties) };
  },
  "required names in reverse": (count) => {
    const properties = members(count, () => true);
    return { ...closed(properties), required: Object.keys(properties).reverse() };
  },
  "values of an enum": (count) => closed({ a: { enum: times(count, (index) => `value ${index}`) } }),
  "schemas in anyOf": (count) =>
    closed({ a: { anyOf: times(count, (index) => ({ type: "string", maxLength: index })) } }),
  definitions: (count) => ({
    ...closed({ a: { $ref: "#/$defs/name_0" } }),
    $defs: members(count, (index) => closed({ next: { $ref: `#/$defs/name_${index}` } })),
  }),
  "levels of objects": (count) =>
    closed(members(count / 20, () => times(20, () => 0).reduce((inner) => closed({ a: inner }), {}))),
};

function closed(properties: Record<string, unknown>): Record<string, unknown> {
  return {
    type: "object",
    properties,
    required: Object.keys(properties).slice(0, 1),
    additionalProperties: false,
  };
}

/** Adds shapes with a large schema in a tool and in the answer's format, which only the first dialect has. */
export function withSchemas(
  dialects: Shape["dialects"],
  bodies: Record<string, Shape["body"]>,
  { tool, answer }: Record<"tool" | "answer", (schema: object) => object>,
): Shape[] {
  return [
    ...Object.entries(bodies).map(([name, body]) => ({ name, dialects, body })),
    ...Object.entries(schemaShapes).flatMap(([name, schema]): Shape[] => [
      { name: `${name} of a tool`, dialects, body: (count) => tool(schema(count)) },
      {
        name: `${name} of the answer`,
        dialects: dialects.slice(0, 1),
        body: (count) => answer(schema(count)),
      },
    ]),
  ];
}

import { members, type Shape, times } from "./shape.ts";

/** Values that cost more to parse or write than their size suggests. */
const values: Record<string, (count: number) => unknown> = {
  "empty objects": (count) => times(count, () => ({})),
  "empty arrays": (count) => times(count, () => []),
  "numbers in an array": (count) => times(count, () => 1),
  "texts in an array": (count) => times(count, (index) => `${index}`),
  "names in one object": (count) => members(count, () => 1),
  "names in many objects": (count) => times(count, (index) => ({ [`a${index}`]: 1, [`b${index}`]: 2 })),
  "objects of one form": (count) => times(count, () => ({ a: 1, b: 2, c: 3 })),
  "arrays of 120 levels": (count) =>
    times(count / 120, () => times(120, () => 0).reduce((inner: unknown) => [inner], 0)),
  "objects of 120 levels": (count) =>
    times(count / 120, () => times(120, () => 0).reduce((inner: unknown) => ({ a: inner }), 0)),
};

const user = { role: "user", content: "Hello" };
const call = { id: "call_1", type: "function" };

function calling(args: string): object {
  const calls = [{ ...call, function: { name: "a", arguments: args } }];
  return { model: "test/model", messages: [user, { role: "assistant", content: null, tool_calls: calls }] };
}

export const structureShapes: Shape[] = Object.entries(values).flatMap(([name, value]): Shape[] => [
  {
    name: `${name}, in a member that is not read`,
    dialects: ["chat"],
    body: (count) => ({ model: "test/model", messages: [user], unknown: value(count) }),
  },
  {
    name: `${name}, in the arguments of a call`,
    dialects: ["chat"],
    body: (count) => calling(JSON.stringify({ a: value(count) })),
  },
  {
    name: `${name}, in the schema of a tool`,
    dialects: ["messages", "count_tokens"],
    body: (count) => ({
      model: "test/model",
      max_tokens: 9,
      messages: [user],
      tools: [{ name: "a", input_schema: { type: "object", default: value(count) } }],
    }),
  },
  {
    name: `${name}, in metadata`,
    dialects: ["responses"],
    body: (count) => ({ model: "test/model", input: "Hello", metadata: value(count) }),
  },
]);

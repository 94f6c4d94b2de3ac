import test, { type ExecutionContext } from "ava";
import fc from "fast-check";
import type { Json, JsonOperation } from "../../gateway/setup/setup-plan.ts";
import { isFull } from "../helpers/scale.ts";
import { createAwkEditor } from "./both-editors.ts";
import { hostileText } from "./hostile-text.ts";
import { findAwks } from "./shells.ts";

type JsonObject = { [name: string]: Json };

const name = fc.oneof(fc.constantFrom("env", "model", "list", "A", "B"), hostileText);
const { object } = fc.letrec<{ value: Json; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    hostileText,
    fc.constantFrom(null, true, false, 0, -1.5, 1e300, 123456789012345, {}, []),
    fc.array(tie("value"), { maxLength: 3 }),
    tie("object"),
  ),
  // `applyAll`, not the editor, fails for a member __proto__.
  object: fc.dictionary(
    name.filter((text) => text !== "__proto__"),
    tie("value"),
    { maxKeys: 4 },
  ),
}));

const operation: fc.Arbitrary<JsonOperation> = fc
  .tuple(
    fc.constantFrom("set", "default", "remove"),
    fc.array(fc.constantFrom("env", "model", "A", "B"), { minLength: 1, maxLength: 3 }),
    fc.constantFrom<Json>("x/y", "", true, 5, { C: "z", D: [1, { E: "f" }] }, [], {}),
  )
  .map(([verb, path, value]) =>
    verb === "remove" ? { do: "remove", path } : { do: verb as "set", path, value },
  );

/** Without `indent`, `hasComments` has no effect. */
const style = fc.record({
  indent: fc.constantFrom("", "  ", "\t"),
  end: fc.constantFrom("\n", "\r\n"),
  mark: fc.constantFrom("", "\uFEFF"),
  hasComments: fc.boolean(),
});

/** Returns a function that edits a text, or returns null if the editor rejects the text. */
async function createEditor(t: ExecutionContext, format: "json" | "jsonc") {
  const edit = await createAwkEditor(t);
  return async (awk: string, text: string, operations: JsonOperation[]) => {
    const bytes = Buffer.from(text).toString("latin1");
    const edited = await edit({ text: bytes, change: { format, operations } }, awk);
    return "text" in edited ? Buffer.from(edited.text, "latin1").toString() : null;
  };
}

test("every awk merges the new settings into any file and keeps the rest", async (t) => {
  const edit = await createEditor(t, "jsonc");
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...findAwks()),
      object,
      fc.array(operation, { minLength: 1, maxLength: 4 }),
      style,
      async (awk, before, operations, { indent, end, mark, hasComments }) => {
        const comment = ' // it\'s a "comment" }], $(x) \\';
        const write = (json: string) =>
          mark + (hasComments && indent ? json.replaceAll("\n", `${comment}\n`) : json).replaceAll("\n", end);
        const read = (text: string) => JSON.parse(text.replace(mark, "").replaceAll(comment, "")) as Json;
        const after = await edit(awk, write(JSON.stringify(before, null, indent)), operations);
        const expected = applyAll(before, operations);
        if (expected === null || after === null) return t.is(after, expected as null);
        t.deepEqual(read(after), expected);
        // A repeated edit changes nothing, unless operations undo each other.
        if (operations.length === 1) t.is(await edit(awk, after, operations), after);
        return true;
      },
    ),
    { numRuns: isFull ? 300 : 100 },
  );
});

test("own entries are replaced, and others stay in place", async (t) => {
  const edit = await createEditor(t, "json");
  const operations: JsonOperation[] = [
    { do: "replaceEntries", path: ["list"], member: "of", is: "us", entries: [{ of: "us", n: 3 }] },
  ];
  const cases = [
    ["{}", { list: [{ of: "us", n: 3 }] }],
    ['{"list":[]}', { list: [{ of: "us", n: 3 }] }],
    ['{"list":[{"of":"us","n":1},1,{"of":"us","n":2}]}', { list: [1, { of: "us", n: 3 }] }],
    [
      '{\n  "list": [\n    {"of": "me"},\n    {"of": "us"}\n  ]\n}',
      { list: [{ of: "me" }, { of: "us", n: 3 }] },
    ],
    ['{"list":[{"of":"us","n":3},{"of":"me"}]}', { list: [{ of: "us", n: 3 }, { of: "me" }] }],
  ] as const;
  for (const awk of findAwks()) {
    for (const [text, expected] of cases) {
      const after = await edit(awk, text, operations);
      t.deepEqual(JSON.parse(after ?? ""), expected as unknown);
      t.is(await edit(awk, after ?? "", operations), after);
    }
  }
});

/**
 * A simple reference implementation of the editor. Returns null if a path leads through a value that is
 * neither an object nor null.
 */
function applyAll(before: JsonObject, operations: JsonOperation[]): Json {
  let value: JsonObject | null = before;
  for (const each of operations) value = value && apply(value, each, each.path);
  return value;
}

function apply(object: JsonObject, operation: JsonOperation, path: string[]): JsonObject | null {
  const [first = "", ...rest] = path;
  const { [first]: old, ...others } = object;
  const isThere = first in object;
  if (rest.length === 0) {
    if (operation.do === "remove") return isThere ? others : object;
    if (operation.do === "default" && isThere) return object;
    return { ...object, [first]: "value" in operation ? operation.value : null };
  }
  if (!isThere || old === null) {
    if (operation.do === "remove") return object;
    const inner = apply({}, operation, rest);
    return { ...object, [first]: inner };
  }
  if (typeof old !== "object" || Array.isArray(old)) return null;
  const inner = apply(old as JsonObject, operation, rest);
  return inner && { ...object, [first]: inner };
}

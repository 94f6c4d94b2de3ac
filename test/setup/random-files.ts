import fc from "fast-check";
import {
  type EnvOperation,
  type Json,
  type JsonOperation,
  keyPlaceholder,
  type TomlOperation,
} from "../../gateway/setup/setup-plan.ts";
import type { Merge } from "./both-editors.ts";

/** `text` has one character per byte and may be invalid. */
export type RandomFile = { text: string; change: Merge };

const blank = fc.constantFrom(
  "",
  "",
  "",
  " ",
  "\n",
  "\r\n",
  "\n  ",
  "\n\t",
  "\r\n    ",
  " // one\n",
  "/* two */",
  " /* \n */ ",
);
const name = fc.constantFrom("env", "a", "b", "env", "c/d", "\xc3\xbc", "x\xad", "\\u0061", "\\n", "");
const scalar = fc.constantFrom(
  '"x"',
  '""',
  '"\\"\\\\"',
  '"\xc3\xbc\x7f"',
  '"a\0b"',
  "1",
  "-2.5e+10",
  "true",
  "null",
  "nul",
  "01",
  "'x'",
);

const { value: jsonValue, object: jsonObject } = fc.letrec<{ value: string; object: string; array: string }>(
  (tie) => ({
    value: fc.oneof({ maxDepth: 4, withCrossShrink: true }, scalar, tie("object"), tie("array")),
    object: fc
      .tuple(
        blank,
        fc.array(fc.tuple(name, blank, tie("value"), blank), { maxLength: 4 }),
        fc.boolean(),
        blank,
      )
      .map(([before, members, hasComma, after]) => {
        const shown = members.map(([key, gap, value, end], index) => {
          const comma = index < members.length - 1 || hasComma ? "," : "";
          return `"${key}":${gap}${value}${comma}${end}`;
        });
        return `{${before}${shown.join(after)}}`;
      }),
    array: fc
      .tuple(fc.array(fc.tuple(tie("value"), blank), { maxLength: 4 }), blank)
      .map(([values, after]) => `[${values.map(([value, gap]) => gap + value).join(`,${after}`)}${after}]`),
  }),
);

const path = fc.array(fc.constantFrom("env", "a", "b", "c/d"), { minLength: 1, maxLength: 3 });
const ourValue = fc.constantFrom<Json[]>(keyPlaceholder, "x", 1, true, [], {}, { a: "x" }, [
  { a: 1, b: { a: [] } },
  "y",
]);
const entries = fc.array(fc.constantFrom<Json[]>({ a: "x", b: 1 }, { a: "x" }, { a: "x", "c/d": [1, 2] }), {
  maxLength: 3,
});

const jsonOperation: fc.Arbitrary<JsonOperation> = fc.oneof(
  fc.record({ do: fc.constantFrom("set" as const, "default" as const), path, value: ourValue }),
  fc.record({ do: fc.constant("remove" as const), path }),
  fc.record({
    do: fc.constant("replaceEntries" as const),
    path,
    member: fc.constant("a"),
    is: fc.constant("x"),
    entries,
  }),
);

const jsonFile: fc.Arbitrary<RandomFile> = fc.record({
  text: withMistakes(
    fc
      .tuple(
        fc.constantFrom("", "\xef\xbb\xbf", "\n"),
        fc.oneof({ arbitrary: jsonObject, weight: 9 }, jsonValue),
        blank,
      )
      .map((parts) => parts.join("")),
  ),
  change: fc.record({
    format: fc.constantFrom("json" as const, "jsonc" as const, "jsonc" as const),
    operations: fc.array(jsonOperation, { minLength: 1, maxLength: 4 }),
  }),
});

const tomlLine = fc.constantFrom(
  "",
  "# mine",
  'model = "a"',
  "model=1 # c",
  "a.b = 1",
  "'a b' = 2",
  'env = { a = "]", b = [1, 2] }',
  "list = [",
  '  "]", # c',
  "]",
  "[env]",
  "[ env . a ]",
  "[[env]]",
  '[models."gateway/x"]',
  '[models."gateway/y".z]',
  '[models."mine"]',
  "[models]",
  't = """',
  '"""',
  "u = '''x''''",
  "d = 1979-05-27 07:32:00",
  's = "\\""',
  "x",
  "[a",
  "n = \xc3\xbc",
);

const tomlOperation: fc.Arbitrary<TomlOperation> = fc.oneof(
  fc.record({
    do: fc.constant("set" as const),
    path: fc.array(fc.constantFrom("model", "env", "a", "gateway/x", "models"), {
      minLength: 1,
      maxLength: 3,
    }),
    value: fc.constantFrom(keyPlaceholder, "x", 3, false),
  }),
  fc.constant<TomlOperation>({
    do: "removeTables",
    path: ["models"],
    prefix: "gateway/",
    keep: ["gateway/y"],
  }),
);

const tomlFile: fc.Arbitrary<RandomFile> = fc.record({
  text: inLines(tomlLine),
  change: fc.record({
    format: fc.constant("toml" as const),
    operations: fc.array(tomlOperation, { minLength: 1, maxLength: 4 }),
  }),
});

const envLine = fc.constantFrom(
  "",
  "# mine",
  "A=1",
  "export A=2",
  "  B = 'x'",
  "AB=3",
  "B=\xad",
  "\xad",
  "\0",
  "export\tB=1",
);
const envOperation: fc.Arbitrary<EnvOperation> = fc.record({
  do: fc.constant("set" as const),
  name: fc.constantFrom("A", "B"),
  value: fc.constantFrom(keyPlaceholder, "x", "a=b"),
});

const envFile: fc.Arbitrary<RandomFile> = fc.record({
  text: inLines(envLine),
  change: fc.record({
    format: fc.constant("env" as const),
    operations: fc.array(envOperation, { minLength: 1, maxLength: 2 }),
  }),
});

export const randomFile: fc.Arbitrary<RandomFile> = fc.oneof(
  { arbitrary: jsonFile, weight: 3 },
  { arbitrary: tomlFile, weight: 2 },
  envFile,
);

function inLines(line: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(
      fc.constantFrom("", "\xef\xbb\xbf"),
      fc.array(line, { maxLength: 8 }),
      fc.constantFrom("\n", "\r\n"),
      fc.boolean(),
    )
    .map(([mark, lines, eol, isEnded]) => mark + lines.join(eol) + (isEnded ? eol : ""));
}

function withMistakes(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const mistake = fc.record({
    at: fc.nat(200),
    letters: fc.constantFrom("", "", ",", "}", '"', "\\", "/", "\0"),
  });
  return fc
    .tuple(text, fc.oneof({ arbitrary: fc.constant(null), weight: 5 }, mistake))
    .map(([right, wrong]) => {
      if (!wrong || wrong.at >= right.length) return right;
      return (
        right.slice(0, wrong.at) + wrong.letters + right.slice(wrong.at + (wrong.letters === "" ? 1 : 0))
      );
    });
}

import test from "ava";
import fc from "fast-check";
import { isFull } from "../helpers/scale.ts";
import { createAwkEditor, editInPowerShell, type Edit, type Edited, type Merge } from "./both-editors.ts";
import { randomFile } from "./random-files.ts";
import { sharePowerShell } from "./share-powershell.ts";
import { findAwks } from "./shells.ts";

const powerShell = sharePowerShell();
const awks = findAwks();

const sonnet: Merge = { format: "json", operations: [{ do: "set", path: ["model"], value: "sonnet" }] };
const lenient: Merge = { ...sonnet, format: "jsonc" };
const env: Merge = { format: "json", operations: [{ do: "set", path: ["env", "A"], value: "b" }] };
const toml: Merge = {
  format: "toml",
  operations: [
    { do: "set", path: ["model"], value: "b" },
    { do: "set", path: ["model_providers", "gateway", "name"], value: "Gateway" },
  ],
};

/** Without `change`, the model is set to `sonnet`. `line` is where awk locates the mistake. */
const given: { title: string; text: string; change?: Merge; expected: string | RegExp; line?: number }[] = [
  { title: "an empty file", text: "", expected: '{\n  "model": "sonnet"\n}\n' },
  {
    title: "CRLF, tabs and a byte order mark",
    text: '\xef\xbb\xbf{\r\n\t"a": "\xc3\xbc"\r\n}\r\n',
    expected: '\xef\xbb\xbf{\r\n\t"a": "\xc3\xbc",\r\n\t"model": "sonnet"\r\n}\r\n',
  },
  {
    title: "bytes that are not UTF-8",
    text: '{\n  "a": "\xff\xad"\n}',
    expected: '{\n  "a": "\xff\xad",\n  "model": "sonnet"\n}',
  },
  {
    title: "JSON on one line",
    text: '{"a":[1, 2]}',
    expected: '{"a":[1, 2],"model":"sonnet"}',
  },
  {
    title: "comments and commas at the end",
    text: '{\n  "model": "old", // mine\n}\n',
    change: lenient,
    expected: '{\n  "model": "sonnet", // mine\n}\n',
  },
  {
    title: "an unchanged value",
    text: '{ "model" :\t"sonnet" }',
    expected: '{ "model" :\t"sonnet" }',
  },
  {
    title: "null in place of an object",
    text: '{\n  "env": null\n}',
    change: env,
    expected: '{\n  "env": {\n    "A": "b"\n  }\n}',
  },
  {
    title: "removing the last of two",
    text: '{\n  "a": 1,\n  "model": "x"\n}\n',
    change: { format: "json", operations: [{ do: "remove", path: ["model"] }] },
    expected: '{\n  "a": 1\n}\n',
  },
  {
    title: "removing the first, middle and last of several on one line",
    text: '{"a": 1, "b": 2, "model": 3, "c": 4}',
    change: {
      format: "json",
      operations: ["a", "model", "c"].map((name) => ({ do: "remove", path: [name] })),
    },
    expected: '{"b": 2 }',
  },
  {
    title: "entries of ours among others",
    text: '{"l":[{"by":"us","n":1},{"by":"me"},{"by":"us"}]}',
    change: {
      format: "json",
      operations: [
        { do: "replaceEntries", path: ["l"], member: "by", is: "us", entries: [{ by: "us", n: 2 }] },
      ],
    },
    expected: '{"l":[{"by":"me"},{"by":"us","n":2}]}',
  },
  {
    title: "TOML without a final line end",
    text: "a = 1\r\n[model_providers.gateway]\r\nb = 2",
    change: toml,
    expected: 'a = 1\r\nmodel = "b"\r\n[model_providers.gateway]\r\nb = 2\r\nname = "Gateway"\r\n',
  },
  {
    title: "tables of an older setup",
    text: '[models."gateway/gone"]\nmodel = "gone"\n\n[models."gateway/kept"]\na = 1\n\n[models.mine]\na = 1\n',
    change: {
      format: "toml",
      operations: [{ do: "removeTables", path: ["models"], prefix: "gateway/", keep: ["gateway/kept"] }],
    },
    expected: '[models."gateway/kept"]\na = 1\n\n[models.mine]\na = 1\n',
  },
  {
    title: "names that differ only in case",
    text: '{"Model":1,"MODEL":2}',
    expected: '{"Model":1,"MODEL":2,"model":"sonnet"}',
  },
  {
    title: "texts that PowerShell's culture treats as equal",
    text: '{"model":"son\0net"}',
    expected: /is not valid JSON/,
  },
  {
    title: "a soft hyphen in a text",
    text: '{"model":"sonnet\xad"}',
    expected: '{"model":"sonnet"}',
  },
  {
    title: "a comment in plain JSON",
    text: '{\n  // mine\n  "a": 1\n}',
    expected: /is not valid JSON/,
    line: 2,
  },
  {
    title: "a comma at the end of plain JSON",
    text: '{"a": 1,}',
    expected: /is not valid JSON/,
    line: 1,
  },
  {
    title: "truncated JSON",
    text: '{"env": {"A": "b"',
    expected: /is not valid JSON/,
    line: 1,
  },
  { title: "JSON with single quotes", text: "{'a': 1}", expected: /is not valid JSON/ },
  { title: "a line break in a text", text: '{"a": "b\nc"}', expected: /is not valid JSON/ },
  { title: "two values", text: "{} {}", expected: /is not valid JSON/ },
  {
    title: "an object in place of a list",
    text: '{"l":{}}',
    change: {
      format: "json",
      operations: [{ do: "replaceEntries", path: ["l"], member: "by", is: "us", entries: [] }],
    },
    expected: /l is not a list/,
  },
  {
    title: "UTF-16, as PowerShell 5.1 writes it",
    text: "\xff\xfe{\0}\0",
    expected: /is not valid JSON/,
  },
  {
    title: "a comment in an empty object",
    text: "{/* two */}",
    change: {
      format: "jsonc",
      operations: [
        { do: "remove", path: ["env"] },
        {
          do: "replaceEntries",
          path: ["a", "env", "a"],
          member: "a",
          is: "x",
          entries: [{ a: "x", "c/d": [1, 2] }],
        },
      ],
    },
    expected:
      '{\n  "a": {\n    "env": {\n      "a": [\n        {\n          "a": "x",\n          "c/d": [\n            1,\n            2\n          ]\n        }\n      ]\n    }\n  }/* two */\n}',
  },
  { title: "a list", text: "[]", expected: /its content is not an object/ },
  {
    title: "a text in place of an object",
    text: '{"env": "A=b"}',
    change: env,
    expected: /env is not an object/,
  },
  {
    title: "a duplicated name",
    text: '{"env": {}, "env": {}}',
    change: env,
    expected: /contains the name "env" twice/,
  },
  {
    title: "deeply nested lists",
    text: "[".repeat(100) + "]".repeat(100),
    expected: /nested too deeply/,
  },
  {
    title: "a file that is too large",
    text: `{"a":"${"a".repeat(300_000)}"}`,
    expected: /larger than 256 KB/,
  },
  {
    title: "TOML with other tables",
    text: 'model = "a" # mine\n\n[model_providers.mine]\nname = "b"\n',
    change: toml,
    expected:
      'model = "b" # mine\n\n[model_providers.mine]\nname = "b"\n\n[model_providers.gateway]\nname = "Gateway"\n',
  },
  { title: "truncated TOML", text: 'model = "a', change: toml, expected: /line 1 is not valid TOML/ },
  {
    title: "TOML with our table in a line",
    text: 'model_providers = { gateway = { name = "x" } }\n',
    change: toml,
    expected: /has a form that this command cannot change/,
  },
  {
    title: "TOML with our table in the names of its keys",
    text: '[model_providers]\ngateway.query_params = { a = "b" }\n',
    change: toml,
    expected: /has a form that this command cannot change/,
  },
  {
    title: "a duplicated name in a file of lines",
    text: "A=1\r\nexport A=2\r\n",
    change: { format: "env", operations: [{ do: "set", name: "A", value: "3" }] },
    expected: "A=3\r\n",
  },
];

const cases = given.map((each) => ({ change: sonnet, ...each }));

for (const [index, { title, text, change, expected, line }] of cases.entries()) {
  const awk = awks[index % awks.length] ?? "awk";
  test(`${awk} edits or rejects ${title}`, async (t) => {
    const edited = await (await createAwkEditor(t))({ text, change }, awk);
    if (typeof expected === "string") return t.deepEqual(edited, { text: expected });
    const why = "why" in edited ? edited.why : "";
    t.regex(why, expected);
    return t.true(line === undefined || why.startsWith(`line ${line} `), why);
  });
}

powerShell.test("PowerShell's editor returns the expected bytes or error", async (t) => {
  const all = await editInPowerShell(powerShell, cases);
  for (const [index, { title, expected }] of cases.entries()) {
    const edited = all[index] ?? { why: "" };
    if (typeof expected === "string") t.deepEqual(edited, { text: expected }, title);
    else t.regex("why" in edited ? edited.why : "", expected, title);
  }
});

powerShell.test("both editors return the same values and comments or an error for any file", async (t) => {
  const awk = await createAwkEditor(t);
  const files = fc.sample(randomFile, { numRuns: isFull ? 1000 : 60 });
  const all = await editInPowerShell(powerShell, files);
  for (const [index, file] of files.entries()) {
    const expected = await awk(file);
    // Only awk looks for these mistakes outside of the path, too.
    if ("why" in expected && /twice|contains escapes/.test(expected.why)) continue;
    const found = all[index] ?? { why: "" };
    t.deepEqual(contentOf(found, file), contentOf(expected, file), JSON.stringify(file));
  }
});

powerShell.test("a second run changes nothing", async (t) => {
  const files = fc.sample(randomFile, { numRuns: isFull ? 1000 : 100 }).map(settle);
  const first = (await editInPowerShell(powerShell, files)).flatMap((edited, index) => {
    const file = files[index];
    return file && "text" in edited ? [{ ...file, text: edited.text }] : [];
  });
  const texts = first.map(({ text }) => ({ text }));
  t.deepEqual(await editInPowerShell(powerShell, first), texts);
});

/** Spaces, line ends and the positions of commas may differ. */
function contentOf(edited: Edited, { change }: Edit): unknown {
  if (!("text" in edited)) return null;
  if (change.format !== "json" && change.format !== "jsonc") return edited.text;
  const comments: string[] = [];
  const plain = edited.text.replaceAll(
    /("(?:[^"\\]|\\.)*")|\/\/[^\r\n]*|\/\*[^]*?\*\//g,
    (token, string) => string ?? (comments.push(token), " "),
  );
  const strict = plain.replaceAll(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, (_token, string) => string ?? "");
  return { value: JSON.parse(strict.replace(/^\xef\xbb\xbf/, "")), comments };
}

/** Keeps one operation, because several random operations may undo each other. */
function settle({ text, change }: Edit): Edit {
  return { text, change: { ...change, operations: change.operations.slice(0, 1) } as Merge };
}

import test from "ava";
import { checkProse } from "./prose/check-prose.ts";
import { readMarkdown } from "./prose/read-markdown.ts";
import { readSvelte } from "./prose/read-svelte.ts";
import { readTypeScript } from "./prose/read-typescript.ts";
import type { Text } from "./prose/text.ts";

const textOf = (text: string): Text => ({ file: "a.ts", line: 1, kind: "comment", text });

const hardToRead = [
  "The region in the base URL is none, such as us-east-1.",
  "What is none of it goes on to whatever comes next.",
  "A request is written down when it is not over after a moment or two, which none is that a model has worked on; so it costs the quick ones nothing, and the others not on their way.",
  "It begins anew on Monday.",
  "The old value goes on working for a week.",
  "Every request that was made, what it used and what it cost. Never what was said in it.",
  "Whoever loses it makes a new one by rotating the key.",
  "The gateway made a mistake. Its log has the details.",
  "How much words are shunned for each time that they were used.",
  "Requests under way are cut off.",
];

for (const sentence of hardToRead) {
  test(`the linter rejects: ${sentence.slice(0, 50)}`, (t) => {
    t.not(checkProse(textOf(sentence)).length, 0);
  });
}

const plain = [
  "Prompts and answers are never stored.",
  "Requests are written to their slot after 10–20 ms, so short requests never touch the disk.",
  "The base URL contains no AWS region. Use a host such as `bedrock-runtime.us-east-1.amazonaws.com`.",
];

for (const sentence of plain) {
  test(`the linter accepts: ${sentence.slice(0, 50)}`, (t) => {
    t.deepEqual(checkProse(textOf(sentence)), []);
  });
}

test("the linter rejects a passive that names its agent", (t) => {
  const [finding] = checkProse(textOf("The file is read by the gateway."));
  t.regex(finding?.problem ?? "", /passive/);
});

test("the linter counts the words of each sentence", (t) => {
  const sentence = (words: number) => `Word${" word".repeat(words - 1)}.`;
  const problemsOf = (text: string) => checkProse({ ...textOf(text), kind: "document" });
  t.is(problemsOf(`${sentence(25)} ${sentence(25)}`).length, 0);
  t.is(problemsOf(`${sentence(25)} ${sentence(26)}`).length, 1);
});

test("the linter rejects a test title of more than 80 characters", (t) => {
  t.is(checkProse({ ...textOf("a".repeat(81)), kind: "title" }).length, 1);
});

const vague = [
  ["What a client sees of an error.", /begins with "What"/],
  ["The owner of the key. Null = unknown.", /"Null = "/],
  ["The known facts. Null without any.", /"Null without any"/],
  ["Converts an answer. May throw anything for a malformed one.", /"throw anything"/],
  ["The number of records on their way to the database.", /"on their way"/],
  ["Takes back the newest setup.", /"Takes back"/],
  ["A word, and one more. ".repeat(13), /285 characters/],
] as const;

for (const [comment, problem] of vague) {
  test(`the linter rejects the comment: ${comment.slice(0, 45)}`, (t) => {
    t.regex(checkProse(textOf(comment))[0]?.problem ?? "", problem);
    t.deepEqual(checkProse({ ...textOf("What's new in this release?"), kind: "document" }), []);
  });
}

test("links and parameters do not count toward the length of a comment", (t) => {
  const content = `/**\n * Reads a file. https://example.com/${"a".repeat(300)}\n * @param name ${"A name. ".repeat(40)}\n */`;
  t.deepEqual(readTypeScript({ file: "a.ts", content }).flatMap(checkProse), []);
});

test("TypeScript: comments, messages and titles are extracted", (t) => {
  const content = [
    "/**",
    " * Reads `a` file.",
    " * @param name without the extension",
    " */",
    'throw new Error(`The file ${name} is missing. Create it.`, "SELECT a FROM b WHERE c");',
    "// One comment",
    "// of two lines.",
  ].join("\n");
  const texts = readTypeScript({ file: "gateway/a.ts", content });
  t.deepEqual(
    texts.map(({ line, kind, text }) => [line, kind, text]),
    [
      [1, "comment", "Reads Code file.\n\n\nwithout the extension"],
      [6, "comment", "One comment\nof two lines."],
      [5, "message", "The file Code is missing. Create it."],
    ],
  );
  const titles = readTypeScript({ file: "test/a.test.ts", content: 'test("a key expires", () => {});' });
  t.deepEqual(titles, [{ file: "test/a.test.ts", line: 1, kind: "title", text: "a key expires" }]);
});

test("scripts: comments and messages are extracted", (t) => {
  const script = [
    "export const a = String.raw`",
    "# Stops it.",
    'stop "The file $name is missing."',
    "`;",
  ].join("\n");
  t.deepEqual(
    readTypeScript({ file: "gateway/a.ts", content: script }).map(({ line, kind, text }) => [
      line,
      kind,
      text,
    ]),
    [
      [2, "comment", "Stops it."],
      [3, "message", "The file Code is missing."],
    ],
  );
});

test("Svelte: texts and labels are extracted, and expressions count as one word", (t) => {
  const content = [
    '<script lang="ts">',
    "  // Why it is so.",
    '  const empty = "No keys yet. Create one.";',
    "</script>",
    '<Field label="Base URL of {name}" class="flex" />',
    "{#if name}",
    "  <p>Hello, <b>{name}</b>, welcome.</p>",
    "{/if}",
    '<p>{name ? "Only an administrator can do this." : ""}</p>',
    '<Field hint={name ? "Leave empty to keep it." : ""} />',
  ].join("\n");
  t.deepEqual(
    readSvelte("console/a.svelte", content).map(({ line, text }) => [line, text]),
    [
      [2, "Why it is so."],
      [3, "No keys yet. Create one."],
      [5, "Base URL of Code"],
      [7, "Hello, Code , welcome."],
      [9, "Only an administrator can do this."],
      [10, "Leave empty to keep it."],
    ],
  );
});

test("Markdown: paragraphs and cells are extracted, and code counts as one word", (t) => {
  const content = "# Title\n\nRun `npm start`.\n\n```sh\nwhoever\n```\n\n| a | b |\n| - | - |\n| c | d |\n";
  t.deepEqual(
    readMarkdown("a.md", content).map(({ line, text }) => [line, text]),
    [
      [1, "Title"],
      [3, "Run Code."],
      [9, "a"],
      [9, "b"],
      [11, "c"],
      [11, "d"],
    ],
  );
});

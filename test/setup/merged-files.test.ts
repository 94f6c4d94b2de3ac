import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import test from "ava";
import type { ToolId } from "../../gateway/setup/tool-setups.ts";
import { generateOffline as generate, homeWith } from "./home-with.ts";
import { readTree } from "./setup-home.ts";

const claudeCode = generate("claude-code");
const settingsPath = ".claude/settings.json";

const kept: { title: string; tool?: ToolId; name?: string; content: string; expected: string }[] = [
  {
    title: "comments and commas at the end",
    tool: "opencode",
    name: ".config/opencode/opencode.json",
    content: '{\n  /* one */ "theme": "x", // two\n  "model": "old", // three\n  // four\n}\n',
    expected:
      '{\n  /* one */ "theme": "x", // two\n  "model": "gateway/qwen/qwen3-coder:free", // three\n  "$schema"',
  },
  {
    title: "a byte order mark and CRLF",
    content: '\xef\xbb\xbf{\r\n\t"a": "\xc3\xbc"\r\n}\r\n',
    expected:
      '\xef\xbb\xbf{\r\n\t"a": "\xc3\xbc",\r\n\t"model": "sonnet",\r\n\t"env": {\r\n\t\t"ANTHROPIC_BASE_URL"',
  },
  { title: "JSON on one line", content: '{"a":[1, 2]}', expected: '{"a":[1, 2],"model":"sonnet"' },
  {
    title: "null in place of an object",
    content: '{\n  "env": null\n}',
    expected: '{\n  "env": {\n    "ANTHROPIC',
  },
  { title: "an empty file", content: "", expected: '{\n  "model": "sonnet"' },
  {
    title: "an empty object with a comment",
    tool: "pi",
    name: ".pi/agent/models.json",
    content: "{ // mine\n}\n",
    expected: '{\n  "providers": {',
  },
];

for (const { title, tool = "claude-code", name = settingsPath, content, expected } of kept) {
  test(`the formatting is kept: ${title}`, async (t) => {
    const { home, run } = await homeWith(t, { [name]: content });
    const file = path.join(home, name);
    const before = await readTree(home);
    const { command, undo } = generate(tool);
    const { stderr } = await run("dash", command);
    const after = await readFile(file, "latin1");
    t.true(after.startsWith(expected), stderr + after);
    await run("zsh", command);
    t.is(await readFile(file, "latin1"), after);
    t.is((await run("dash", undo)).code, 0);
    t.deepEqual(await readTree(home), before);
  });
}

test("a file that the tool prefers is merged instead", async (t) => {
  const mine = ".config/opencode/opencode.jsonc";
  const { home, run } = await homeWith(t, { [mine]: '{ "theme": "x" /* mine */ }' });
  await run("dash", generate("opencode").command);
  t.regex(await readFile(path.join(home, mine), "utf8"), /"theme": "x","\$schema":.*\/\* mine \*\/ \}/);
  t.false(".config/opencode/opencode.json" in (await readTree(home)));
});

test("an existing config.yaml stays, and ours is written beside it", async (t) => {
  const { home, run } = await homeWith(t, { ".continue/config.yaml": "name: mine\n" });
  const { command, undo } = generate("continue");
  await run("dash", command);
  t.is(await readFile(path.join(home, ".continue/config.yaml"), "utf8"), "name: mine\n");
  t.regex(
    await readFile(path.join(home, ".continue/configs/gateway.yaml"), "utf8"),
    /model: "qwen\/qwen3-coder:free"/,
  );
  t.is((await run("dash", undo)).code, 0);
  t.deepEqual(await readTree(home), { ".continue/": "", ".continue/config.yaml": "name: mine\n" });
});

test("an older setup of ours is replaced, and undo goes back step by step", async (t) => {
  const { home, run } = await homeWith(t, { [settingsPath]: '{"env":{"ANTHROPIC_MODEL":"old"}}' });
  const trees = [await readTree(home)];
  for (const daily of ["local/one", "local/two", "local/three"]) {
    await run("dash", generate("claude-code", { daily }).command);
    trees.push(await readTree(home));
    t.regex(await readFile(path.join(home, settingsPath), "utf8"), new RegExp(`SONNET_MODEL":"${daily}"`));
  }
  for (const before of trees.slice(0, -1).toReversed()) {
    t.is((await run("dash", claudeCode.undo)).code, 0);
    t.deepEqual(await readTree(home), before);
  }
});

test("changes made after the setup survive an undo, even in the same second", async (t) => {
  const { home, folder, environment, run } = await homeWith(t, { [settingsPath]: "{}" });
  const clock = path.join(folder, "clock");
  await mkdir(clock);
  await writeFile(path.join(clock, "date"), "#!/bin/sh\necho 20261121222647\n", { mode: 0o755 });
  const stopped = { PATH: `${clock}:${environment["PATH"]}` };
  await run("dash", claudeCode.command, stopped);
  const file = path.join(home, settingsPath);
  await writeFile(file, '{"mine":true}');
  const { stdout } = await run("dash", claudeCode.undo, stopped);
  const copy = /Its backup is (\S+)\.\n/.exec(stdout)?.[1] ?? "";
  t.is(await readFile(copy, "utf8"), '{"mine":true}');
  t.is(await readFile(file, "utf8"), "{}");
});

import { chmod, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import test from "ava";
import type { ToolId } from "../../gateway/setup/tool-setups.ts";
import { generateOffline as generate, homeWith } from "./home-with.ts";
import { createSetupHome, readTree } from "./setup-home.ts";
import { keyValue } from "./setup-models.ts";

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
  const copy = /The changed version is saved as (\S+)\.\n/.exec(stdout)?.[1] ?? "";
  t.is(await readFile(copy, "utf8"), '{"mine":true}');
  t.is(await readFile(file, "utf8"), "{}");
});

test("a symbolic link stays, and its target changes", async (t) => {
  const { home, run } = await homeWith(t, { "dotfiles/claude settings.json": "{}" });
  await mkdir(path.join(home, ".claude"));
  await symlink("../dotfiles/claude settings.json", path.join(home, settingsPath));
  const before = await readTree(home);
  await run("dash", claudeCode.command);
  const after = await readTree(home);
  t.is(after[settingsPath], "-> ../dotfiles/claude settings.json");
  t.regex(after["dotfiles/claude settings.json"] ?? "", /"model": "sonnet"/);
  t.is((await run("dash", claudeCode.undo)).code, 0);
  t.deepEqual(await readTree(home), before);
});

test("a dangling symbolic link gets its target, and a circular one is rejected", async (t) => {
  const { home, run } = await homeWith(t, {});
  await mkdir(path.join(home, ".claude"));
  await symlink("real.json", path.join(home, settingsPath));
  await run("dash", claudeCode.command);
  t.regex(await readFile(path.join(home, ".claude/real.json"), "utf8"), /"model": "sonnet"/);

  const circle = await homeWith(t, {});
  await mkdir(path.join(circle.home, ".claude"));
  await symlink("settings.json", path.join(circle.home, settingsPath));
  const { code, stderr } = await circle.run("dash", claudeCode.command);
  t.is(code, 1);
  t.regex(stderr, /symbolic link is broken/);
});

test("configured tool folders are used and created private to their owner", async (t) => {
  const { home, folder, run } = await homeWith(t, {});
  const there = path.join(folder, "else where");
  await run("dash", claudeCode.command, { CLAUDE_CONFIG_DIR: path.join(there, "claude") });
  t.regex(await readFile(path.join(there, "claude/settings.json"), "utf8"), /sonnet/);
  for (const each of [there, path.join(there, "claude"), path.join(home, ".config")]) {
    t.is((await stat(each)).mode & 0o777, 0o700, each);
  }
});

test("a file readable by others becomes private, and so does its copy", async (t) => {
  const { home, run } = await homeWith(t, {
    [settingsPath]: '{"env":{"ANTHROPIC_AUTH_TOKEN":"old secret"}}',
  });
  await chmod(path.join(home, settingsPath), 0o644);
  await run("dash", claudeCode.command);
  const names = Object.keys(await readTree(path.join(home, ".claude")));
  t.is(names.length, 2);
  for (const name of names) t.is((await stat(path.join(home, ".claude", name))).mode & 0o777, 0o600);
});

test("a shell profile keeps its mode and has one block after repeated setups", async (t) => {
  const { home, run } = await homeWith(t, { ".zshrc": "alias ll='ls -l'" });
  const profile = path.join(home, ".zshrc");
  await chmod(profile, 0o644);
  for (const daily of ["local/one", "anthropic/claude-opus-5.5"]) {
    await run("dash", generate("copilot", { daily }).command, { SHELL: "/bin/zsh" });
  }
  const text = await readFile(profile, "utf8");
  t.is(text.split("\n").filter((line) => line.includes("model-gateway/copilot.sh")).length, 1, text);
  t.is((await stat(profile)).mode & 0o777, 0o644);
  const shown = await run("zsh", ". ~/.zshrc; echo $COPILOT_MODEL; eval $COPILOT_PROVIDER_API_KEY_COMMAND");
  t.is(shown.stdout, `anthropic/claude-opus-5.5\n${keyValue}\n`);
});

test("a missing tool or key helper is reported", async (t) => {
  const { home, run } = await createSetupHome(t, { programs: [] });
  const { code, stdout, stderr } = await run("dash", claudeCode.command);
  t.is(code, 0, stderr);
  t.regex(stderr, /claude is not installed.*npm install -g @anthropic-ai\/claude-code/);
  t.regex(stderr, /Install curl, wget, node, python3 or perl/);
  t.true(stdout.includes("settings.json"));
  t.true(settingsPath in (await readTree(home)));
});

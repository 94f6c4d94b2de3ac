import { chmod, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import test from "ava";
import fc from "fast-check";
import type { ToolId } from "../../gateway/setup/tool-setups.ts";
import { isFull } from "../helpers/scale.ts";
import { findProgram } from "../helpers/system-packages.ts";
import { readToml } from "./existing-files.ts";
import { generateOffline as generate, homeWith } from "./home-with.ts";
import { hostileText } from "./hostile-text.ts";
import { createSetupHome, readTree } from "./setup-home.ts";
import { keyValue } from "./setup-models.ts";
import { shellNames } from "./shells.ts";

const claudeCode = generate("claude-code");
const settingsPath = ".claude/settings.json";

test("a byte order mark, CRLF, tabs and bytes of other encodings are kept", async (t) => {
  const content = '\xef\xbb\xbf{\r\n\t"a": "\xc3\xbc\xff"\r\n}\r\n';
  const { home, run } = await homeWith(t, { [settingsPath]: content });
  const file = path.join(home, settingsPath);
  const before = await readTree(home);
  const { stderr } = await run("dash", claudeCode.command);
  const after = await readFile(file, "latin1");
  const expected =
    '\xef\xbb\xbf{\r\n\t"a": "\xc3\xbc\xff",\r\n\t"model": "sonnet",\r\n\t"env": {\r\n\t\t"ANTHROPIC_BASE_URL"';
  t.true(after.startsWith(expected), stderr + after);
  await run("zsh", claudeCode.command);
  t.is(await readFile(file, "latin1"), after);
  t.is((await run("dash", claudeCode.undo)).code, 0);
  t.deepEqual(await readTree(home), before);
});

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

const refused: {
  title: string;
  tool?: ToolId;
  name?: string;
  content: string;
  why: RegExp;
  patch?: RegExp;
}[] = [
  { title: "a comment in plain JSON", content: '{\n  // mine\n  "a": 1\n}', why: /line 2 is not valid JSON/ },
  { title: "deeply nested lists", content: "[".repeat(100_000), why: /nested too deeply/ },
  { title: "a file that is too large", content: `{"a":"${"a".repeat(300_000)}"}`, why: /larger than 256 KB/ },
  {
    title: "an invalid entry list",
    tool: "qwen-code",
    name: ".qwen/settings.json",
    content: '{"modelProviders":{"openai":{}}}',
    why: /modelProviders > openai is not a list/,
    patch: /"fastModel": "openai\/gpt-5-mini"/,
  },
  {
    title: "truncated TOML",
    tool: "codex",
    name: ".codex/config.toml",
    content: 'model = "a',
    why: /is not valid TOML/,
    patch: /\[model_providers\.gateway\]/,
  },
];

for (const { title, tool = "claude-code", name = settingsPath, content, why, patch } of refused) {
  test(`the file stays unchanged, with manual instructions: ${title}`, async (t) => {
    const { home, run } = await homeWith(t, { [name]: content });
    const before = await readTree(home);
    const { code, stdout, stderr } = await run("dash", generate(tool).command);
    t.is(code, 1);
    t.regex(stderr, why);
    t.true(stderr.includes(`${path.join(home, name)} was not changed`), stderr);
    t.regex(stderr, patch ?? /"ANTHROPIC_AUTH_TOKEN": "<your API key>"/);
    t.true(stderr.endsWith("Nothing was changed. Correct the file, then repeat the command.\n"), stderr);
    t.false((stdout + stderr).includes(keyValue));
    t.deepEqual(await readTree(home), before);
  });
}

test("one broken file keeps the others unchanged", async (t) => {
  const { home, run } = await homeWith(t, { ".pi/agent/models.json": "{}", ".pi/agent/auth.json": "{" });
  const before = await readTree(home);
  t.is((await run("dash", generate("pi").command)).code, 1);
  t.deepEqual(await readTree(home), before);
});

test("a read-only file, a folder and a device are rejected", async (t) => {
  const { home, run } = await homeWith(t, { [settingsPath]: "{}" });
  const file = path.join(home, settingsPath);
  await chmod(file, 0o444);
  const readOnly = await run("dash", claudeCode.command);
  t.regex(readOnly.stderr, /settings.json was not changed: it is read-only\./);
  t.is(await readFile(file, "utf8"), "{}");

  await mkdir(path.join(home, ".config/opencode/opencode.json"), { recursive: true });
  const folder = await run("dash", generate("opencode").command);
  t.regex(folder.stderr, /opencode.json was not changed: it is a folder\./);

  await symlink("/dev/null", path.join(home, "settings.json"));
  const device = await run("dash", claudeCode.command, { CLAUDE_CONFIG_DIR: home });
  t.regex(device.stderr, /it is not a file\./);
});

/** Texts whose JSON is also a valid TOML string. */
const tomlText = hostileText.filter((text) => !text.includes("\u007f")).map((text) => text.toWellFormed());
const settings = fc.record({
  values: fc.dictionary(
    tomlText.filter((text) => text !== "" && text !== "__proto__"),
    tomlText,
    { maxKeys: 4 },
  ),
  text: tomlText,
});

for (const shell of shellNames.filter((name) => findProgram(name)))
  test(`the content of existing files is never run and is kept in ${shell}`, async (t) => {
    const codex = generate("codex");
    await fc.assert(
      fc.asyncProperty(settings, async ({ values, text }) => {
        const { home, run } = await createSetupHome(t, { programs: [] });
        const files = {
          json: path.join(home, ".claude/settings.json"),
          toml: path.join(home, ".codex/config.toml"),
          env: path.join(home, ".codex/.env"),
        };
        for (const folder of [".claude", ".codex"]) await mkdir(path.join(home, folder));
        await writeFile(files.json, JSON.stringify({ ...values, env: { ...values, MINE: text } }, null, 1));
        const lines = Object.entries({ ...values, MINE: text }).map(
          ([name, value]) =>
            `${JSON.stringify(name)} = ${JSON.stringify(value)} # ${value.replaceAll(/\p{Cc}/gu, "")}`,
        );
        await writeFile(files.toml, `[[mine]]\n${lines.join("\n")}\n[mine.below]\n${lines.join("\n")}\n`);
        await writeFile(files.env, `MINE="${text.replaceAll("\n", "")}"\n`);
        const before = await readTree(home);

        for (const { command } of [claudeCode, codex]) {
          const { code, stderr } = await run(shell, command);
          t.is(code, 0, stderr);
        }
        const {
          model: _sonnet,
          modelPicker: _picker,
          env,
          ...rest
        } = JSON.parse(await readFile(files.json, "utf8")) as Record<string, Record<string, unknown>>;
        const {
          env: _env,
          model: _model,
          modelPicker: _ownPicker,
          ...others
        } = { ...values } as Record<string, string>;
        t.deepEqual(rest as unknown, others as unknown);
        t.like(env, { ...values, MINE: text });
        const { mine } = readToml(await readFile(files.toml, "utf8"));
        t.deepEqual(mine, [{ ...values, MINE: text, below: { ...values, MINE: text } }]);
        t.true((await readFile(files.env, "utf8")).startsWith(before[".codex/.env"]?.slice(0, 5) ?? ""));

        for (const { undo } of [codex, claudeCode]) t.is((await run(shell, undo)).code, 0);
        t.deepEqual(await readTree(home), before);
      }),
      { numRuns: isFull ? 12 : 2 },
    );
  });

import { chmod, mkdir, readFile, stat, symlink } from "node:fs/promises";
import path from "node:path";
import test from "ava";
import { generateOffline as generate, homeWith } from "./home-with.ts";
import { createSetupHome, readTree } from "./setup-home.ts";
import { keyValue } from "./setup-models.ts";

const claudeCode = generate("claude-code");
const settingsPath = ".claude/settings.json";

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
  const shown = await run(
    "zsh",
    ". ~/.zshrc; echo $COPILOT_PROVIDER_WIRE_MODEL; eval $COPILOT_PROVIDER_API_KEY_COMMAND",
  );
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

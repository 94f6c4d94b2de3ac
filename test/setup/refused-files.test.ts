import { chmod, mkdir, readFile, symlink } from "node:fs/promises";
import path from "node:path";
import test from "ava";
import type { ToolId } from "../../gateway/setup/tool-setups.ts";
import { generateOffline as generate, homeWith } from "./home-with.ts";
import { readTree } from "./setup-home.ts";
import { keyValue } from "./setup-models.ts";

const claudeCode = generate("claude-code");
const settingsPath = ".claude/settings.json";

const refused: {
  title: string;
  tool?: ToolId;
  name?: string;
  content: string;
  why: RegExp;
  patch?: RegExp;
}[] = [
  { title: "a comment in plain JSON", content: '{\n  // mine\n  "a": 1\n}', why: /line 2 is not valid JSON/ },
  { title: "a comma at the end of plain JSON", content: '{"a": 1,}', why: /line 1 is not valid JSON/ },
  { title: "truncated JSON", content: '{"env": {"A": "b"', why: /line 1 is not valid JSON/ },
  { title: "JSON with single quotes", content: "{'a': 1}", why: /is not valid JSON/ },
  { title: "JSON with a line break in a text", content: '{"a": "b\nc"}', why: /is not valid JSON/ },
  { title: "two values", content: "{} {}", why: /is not valid JSON/ },
  { title: "UTF-16", content: "\xff\xfe{\0}\0", why: /is not valid JSON/ },
  { title: "a list", content: "[]", why: /is not an object/ },
  { title: "a text in place of an object", content: '{"env": "A=b"}', why: /env is not an object/ },
  { title: "a duplicated name", content: '{"env": {}, "env": {}}', why: /contains the name "env" twice/ },
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
  {
    title: "TOML with our table in the names of its keys",
    tool: "codex",
    name: ".codex/config.toml",
    content: '[model_providers]\ngateway.query_params = { a = "b" }\n',
    why: /has a form that this command cannot change/,
    patch: /\[model_providers\.gateway\]/,
  },
  {
    title: "TOML with our table in another table's line",
    tool: "codex",
    name: ".codex/config.toml",
    content: 'model_providers = { gateway = { name = "x" } }\n',
    why: /has a form that this command cannot change/,
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

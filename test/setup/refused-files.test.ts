import { chmod, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import test from "ava";
import fc from "fast-check";
import type { ToolId } from "../../gateway/setup/tool-setups.ts";
import { findProgram } from "../helpers/system-packages.ts";
import { readToml } from "./existing-files.ts";
import { generateOffline, generateOffline as generate, homeWith } from "./home-with.ts";
import { hostileText } from "./hostile-text.ts";
import { createSetupHome, readTree } from "./setup-home.ts";
import { keyValue } from "./setup-models.ts";
import { shellNames } from "./shells.ts";

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

/** Texts whose JSON is also a valid TOML string. */
const tomlText = hostileText.filter((text) => !text.includes("\u007f")).map((text) => text.toWellFormed());
const settings = fc.record({
  values: fc.dictionary(
    tomlText.filter((text) => text !== "" && text !== "__proto__"),
    tomlText,
    { maxKeys: 4 },
  ),
  text: tomlText,
  shell: fc.constantFrom(...shellNames.filter((name) => findProgram(name))),
});

test("the content of existing files is never run and is kept", async (t) => {
  const claudeCode = generateOffline("claude-code");
  const codex = generateOffline("codex");
  await fc.assert(
    fc.asyncProperty(settings, async ({ values, text, shell }) => {
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
    { numRuns: 12 },
  );
});

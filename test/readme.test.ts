import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "ava";
import { limitVariables } from "../gateway/config/limit-variables.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const rows = readme.split("\n").filter((line) => line.startsWith("| `"));

for (const { variable, value } of Object.values(limitVariables)) {
  test(`the configuration table has ${variable} with its default`, (t) => {
    const row = rows.find((line) => line.includes(`\`${variable}\``)) ?? "";
    const [, names = "", defaults = ""] = row.split("|");
    const position = names.split(",").findIndex((name) => name.trim() === `\`${variable}\``);
    t.is(defaults.split(",")[position]?.trim(), String(value));
  });
}

const root = path.join(import.meta.dirname, "..");
const documents = globSync(
  ["*.md", "{gateway,console,db,infra,test}/README.md", "gateway/providers/README.md"],
  {
    cwd: root,
  },
);
const { scripts } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
  scripts: Record<string, string>;
};

for (const name of documents) {
  test(`${name}: the named files and commands exist`, (t) => {
    const text = readFileSync(path.join(root, name), "utf8");
    for (const [, file = ""] of text.matchAll(/`((?:gateway|console|db|infra|test)\/[\w./-]+)`/g))
      t.true(existsSync(path.join(root, file)), file);
    for (const [, file = ""] of text.matchAll(/\]\((?!https?:|#)([^)#]+)\)/g))
      t.true(existsSync(path.join(root, path.dirname(name), file)), file);
    for (const [, script = ""] of text.matchAll(/npm run ([\w:-]+)/g)) t.true(script in scripts, script);
    t.pass();
  });
}

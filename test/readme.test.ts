import { readFileSync } from "node:fs";
import test from "ava";
import { limitVariables } from "../gateway/limit-variables.ts";

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

import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "ava";
import { fillTables } from "../gateway/config/fill-tables.ts";
import { variables } from "../gateway/config/variables.ts";
import { limitVariables } from "./helpers/limit-variables.ts";

const root = path.join(import.meta.dirname, "..");
const read = (name: string) => readFileSync(path.join(root, name), "utf8");

const rows = Array.from(
  read("gateway/config/README.md").matchAll(/^\| `([A-Z_]+)` *\|([^|]*)\|([^|]*)\|([^|]*)\|$/gm),
  ([, variable = "", value = "", unit = "", meaning = ""]) => ({
    variable,
    value: value.trim(),
    unit: unit.trim(),
    meaning: meaning.trim(),
  }),
);

test("the configuration page has each variable once, with a default and a meaning", (t) => {
  t.deepEqual(rows.map(({ variable }) => variable).toSorted(), Object.keys(variables).toSorted());
  for (const { variable, value, meaning } of rows) t.true(value !== "" && meaning !== "", variable);
});

for (const { variable, value } of limitVariables) {
  test(`the configuration page has the default and the unit of ${variable}`, (t) => {
    const row = rows.find((candidate) => candidate.variable === variable);
    t.is(row?.value, String(value));
    t.is(row?.unit, unitOf(variable) ?? row?.unit);
    t.not(row?.unit, "");
  });
}

test("the tables of variables equal the checked-in ones: run `npm run config:tables`", (t) => {
  const page = read("gateway/config/README.md");
  t.is(fillTables(page), page);
  t.throws(() => fillTables(page.replace("## Usage history", "## Usage")), { message: /"Usage history"/ });
});

function unitOf(variable: string): string | undefined {
  const units = { BYTES: "bytes", MS: "ms", DAYS: "days", USD: "USD", PERCENT: "percent" };
  return Object.entries(units).find(([name]) => variable.split("_").includes(name))?.[1];
}

test("the configuration page has the values of fixed limits", (t) => {
  const limits = Array.from(
    read("gateway/config/README.md").matchAll(/^\| \[`(\w+)`\]\(\.\.\/([^)]+)\) *\| (\d+) *\| [a-z]+/gm),
    ([, name = "", file = "", value = ""]) => ({ name, file, value }),
  );
  t.true(limits.length > 0);
  for (const { name, file, value } of limits) {
    const pattern = new RegExp(`^(?:export )?const ${name} = ([\\d_* ]+);$`, "m");
    const [, factors = ""] = pattern.exec(read(`gateway/${file}`)) ?? [];
    const product = factors.split("*").reduce((all, each) => all * Number(each.replaceAll("_", "")), 1);
    t.is(String(product), value, name);
  }
});

test("README.md has at most 1,500 words", (t) => {
  t.true(read("README.md").split(/\s+/).filter(Boolean).length <= 1_500);
});

const documents = globSync(["*.md", "{gateway,console,db,infra,test}/**/*.md"], {
  cwd: root,
  exclude: ["console/{build,src}/**", "console/.svelte-kit/**", "test/fixtures/**", "**/node_modules/**"],
});
const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };

for (const name of documents) {
  test(`${name} names only existing files, headings and commands`, (t) => {
    const text = read(name);
    for (const [, file = ""] of text.matchAll(/`((?:gateway|console|db|infra|test)\/[\w./-]+)`/g))
      t.true(existsSync(path.join(root, file)), file);
    for (const [, file = "", heading] of text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)) {
      const target = file === "" ? name : path.join(path.dirname(name), file);
      t.true(existsSync(path.join(root, target)), target);
      if (heading !== undefined) t.true(headingsOf(read(target)).includes(heading), `${target}#${heading}`);
    }
    for (const [, script = ""] of text.matchAll(/npm run ([\w:-]+)/g)) t.true(script in scripts, script);
    t.pass();
  });
}

function headingsOf(text: string): string[] {
  return Array.from(text.matchAll(/^#+ (.+)$/gm), ([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(/\s/g, "-"),
  );
}

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { buildSchema, parse, validate } from "graphql";

const top = join(import.meta.dirname, "../..");
const schema = buildSchema(readFileSync(join(top, "gateway/graphql/schema.graphql"), "utf8"));

const literals = globSync("console/src/**/*.ts", { cwd: top }).flatMap((file) =>
  [...readFileSync(join(top, file), "utf8").matchAll(/const (\w+) = \/\* GraphQL \*\/ `([^`]*)`/g)].map(
    ([, name = "", text = ""]) => ({ file, name, text }),
  ),
);
const texts = new Map(literals.map(({ name, text }) => [name, text]));
const documents = literals
  .filter(({ text }) => !/^\s*fragment/.test(text))
  .map(({ file, text }) => ({
    file,
    document: text.replaceAll(/\$\{(\w+)\}/g, (_, name) => texts.get(name) ?? ""),
  }));

test("the console's queries match the schema of the usage history", (t) => {
  t.is(documents.length, 6);
  for (const { file, document } of documents) {
    t.deepEqual(validate(schema, parse(document)).map(String), [], file);
  }
});

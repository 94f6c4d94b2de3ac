import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { buildSchema, parse, validate } from "graphql";

const top = join(import.meta.dirname, "../..");
const schema = buildSchema(readFileSync(join(top, "gateway/graphql/schema.graphql"), "utf8"));

const documents = globSync("console/src/**/*.ts", { cwd: top }).flatMap((file) =>
  [...readFileSync(join(top, file), "utf8").matchAll(/\/\* GraphQL \*\/ `([^`]*)`/g)].map(
    ([, document = ""]) => ({ file, document }),
  ),
);

test("what the console asks the usage history is in its schema", (t) => {
  t.is(documents.length, 3);
  for (const { file, document } of documents) {
    t.deepEqual(validate(schema, parse(document)).map(String), [], file);
  }
});

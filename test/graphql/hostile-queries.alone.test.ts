import test from "ava";
import { askHistory } from "../helpers/ask-history.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";

const shared = shareGateway();
let token: string;
let mostUs = 0;

test.after(() =>
  console.log(`hostile documents: ${Object.keys(documents).length}, each refused within ${mostUs} µs of CPU`),
);

test.serial.before(async () => {
  token = (await addPerson(shared(), "eve@example.org")).accessToken;
  // The first requests also load modules and compile code, so they are not measured.
  for (let round = 0; round < 30; round++)
    await askHistory(shared(), token, `{ a${round}: __typename { nonsense } }`);
});

const repeat = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => text(index)).join(" ");
const nested = (depth: number, open: string, close: string, inner: string) =>
  open.repeat(depth) + inner + close.repeat(depth);
const record = "edges { node { id } }";

/** Each of `count` fragments spreads the next one twice: 2^count fields when expanded. */
const laughs = (count: number, last: string) =>
  repeat(count, (n) => `fragment f${n} on Query { ...f${n + 1} ...f${n + 1} }`) +
  ` fragment f${count} on Query { ${last} }`;
const typeLaughs = (count: number) =>
  repeat(
    count,
    (n) => `fragment f${n} on __Type { fields { type { ...f${n + 1} } } ofType { ...f${n + 1} } }`,
  ) + ` fragment f${count} on __Type { name }`;

const documents: Record<string, string> = {};
for (const depth of [20, 100, 160]) {
  documents[`inline fragments and fields, ${depth} deep`] = `{ ${nested(depth, "a { ", "} ", "b")} }`;
  documents[`types of types, ${depth} deep`] =
    `{ __schema { types { ${nested(depth, "ofType { ", "} ", "name")} } } }`;
  documents[`fields of types of fields, ${depth} deep`] =
    `{ __schema { types { ${nested(depth, "fields { type { ", "} } ", "name")} } } }`;
  documents[`lists within lists, ${depth} deep`] =
    `{ usageSummary(groupBy: ${nested(depth * 2, "[", "]", "MODEL")}) { requests } }`;
  documents[`objects within objects, ${depth} deep`] =
    `{ usageRecords(filter: ${nested(depth, "{ filter: ", "}", "{}")}) { ${record} } }`;
}
for (const depth of [10_000, 30_000]) {
  documents[`${depth} opening braces`] = "{".repeat(depth);
  documents[`${depth} opening brackets`] = `{ a(b: ${"[".repeat(depth)}`;
  documents[`${depth} inline fragments`] = `{ ${"...{".repeat(depth / 2)}`;
}
for (const count of [16, 80, 180]) {
  documents[`${count} aliases of a name`] = `{ ${repeat(count, (n) => `a${n}: __typename`)} }`;
  documents[`${count} aliases of pages`] =
    `{ ${repeat(count, (n) => `a${n}: usageRecords(first: 500) { ${record} }`)} }`;
  documents[`${count} aliases of sums`] =
    `{ ${repeat(count, (n) => `a${n}: usageSummary(groupBy: []) { requests }`)} }`;
  documents[`${count} aliases of one record`] =
    `{ ${repeat(count, (n) => `a${n}: usageRecord(id: "x") { id }`)} }`;
  documents[`${count} aliases within a page`] =
    `{ usageRecords { edges { ${repeat(count, (n) => `a${n}: node { id }`)} } } }`;
}
for (const count of [300, 900]) {
  documents[`the same field ${count} times`] = `{ ${"__typename ".repeat(count)} }`;
  documents[`${count} unknown fields`] = `{ ${repeat(count, (n) => `x${n}`)} }`;
  documents[`${count} directives`] = `{ __typename ${"@x ".repeat(count)} }`;
  documents[`${count} arguments`] = `{ usageRecord(${repeat(count, (n) => `a${n}: 1`)}) { id } }`;
  documents[`${count} variables`] = `query(${repeat(count, (n) => `$v${n}: Int`)}) { __typename }`;
}
documents["5 sums and a page"] =
  `{ ${repeat(5, (n) => `a${n}: usageSummary(groupBy: []) { requests }`)} usageRecords { ${record} } }`;
documents["30,000 tokens"] = `{ ${"a ".repeat(30_000)} }`;
documents["a comma 60,000 times, and nothing"] = ",".repeat(60_000);
documents["a long string"] = `{ usageRecord(id: "${"x".repeat(60_000)}) { id } }`;
documents["a long name"] = `{ ${"x".repeat(60_000)} }`;
documents["a long number"] = `{ usageRecords(first: ${"9".repeat(60_000)}) { ${record} } }`;
documents["fragments in a circle"] = `{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }`;
documents["a fragment within itself"] = `{ ...a } fragment a on Query { ...a ...a ...a }`;
documents["fragments that double 25 times"] = `{ ...f0 } ${laughs(25, "__typename")}`;
documents["fragments that double 60 times"] = `{ ...f0 } ${laughs(60, "__typename")}`;
documents["fragments that double, of pages"] =
  `{ ...f0 } ${laughs(12, `usageRecords(first: 500) { ${record} }`)}`;
documents["fragments of types that double"] = `{ __schema { types { ...f0 } } } ${typeLaughs(20)}`;
documents["fragments that nobody spreads, doubling"] = `{ __typename } ${laughs(40, "__typename")}`;
documents["the same fragment spread 300 times"] =
  `{ ${"...a ".repeat(300)} } fragment a on Query { __typename }`;
documents["100 operations"] = repeat(100, (n) => `query q${n} { __typename }`);
documents["6 operations, none of them named"] = repeat(6, () => "{ __typename }");
documents["a page of too many"] = `{ usageRecords(first: 501) { ${record} } }`;
documents["a page of 2^31"] = `{ usageRecords(first: 2147483648) { ${record} } }`;
documents["a page of less than nothing"] = `{ usageRecords(first: -1) { ${record} } }`;
documents["a subscription"] = "subscription { usageRecords { edges { cursor } } }";
documents["a mutation"] = "mutation { __typename }";
documents["deferred pieces"] = `{ ... @defer { usageRecords { ${record} } } }`;
documents["types of the schema's own"] = "type Query { x: Int }";

test("at least 60 hostile queries exist", (t) => {
  t.true(Object.keys(documents).length >= 60, String(Object.keys(documents).length));
});

for (const [title, query] of Object.entries(documents)) {
  test.serial(`a hostile query is rejected cheaply: ${title}`, async (t) => {
    let leastUs = Number.POSITIVE_INFINITY;
    // A busy machine also increases CPU time, so the fastest of up to three rounds counts.
    for (let round = 0; round < 3 && leastUs > 50_000; round++) {
      const before = process.threadCpuUsage();
      const answer = await askHistory(shared(), token, query);
      const { user, system } = process.threadCpuUsage(before);
      leastUs = Math.min(leastUs, user + system);

      t.true(answer.status >= 400 && answer.status < 500, answer.text.slice(0, 500));
      t.true(answer.errors.length > 0 && answer.errors.length < 300);
      t.falsy(answer.data);
      t.true(answer.text.length < 200_000, `${answer.text.length} characters are a large answer`);
    }
    mostUs = Math.max(mostUs, leastUs);
    t.true(leastUs <= 50_000, `${leastUs} µs of CPU`);
  });
}

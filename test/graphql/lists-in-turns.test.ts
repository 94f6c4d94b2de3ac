import test from "ava";
import { toJsonParts } from "../../gateway/graphql/lists-in-turns.ts";
import { createGraphqlServer } from "../../gateway/graphql/server.ts";
import { createLog } from "../../gateway/log.ts";

test("a summary of 10,000 rows lets other events run between its rows", async (t) => {
  const log = createLog("silent", { write: () => {} });
  const server = createGraphqlServer({ path: "/graphql", recordsPerPageMax: 500, log });
  const rows = Array.from({ length: 10_000 }, (_, index) => ({ model: `model-${index}`, requests: index }));
  const services = { usageHistory: { summarize: () => Promise.resolve(rows) } };
  const question = new Request("http://gateway/graphql", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ query: "{ usageSummary(groupBy: [MODEL]) { model requests } }" }),
  });
  let turns = 0;
  let isAnswering = true;
  const count = () => {
    turns++;
    if (isAnswering) setImmediate(count);
  };
  setImmediate(count);
  const context = { services, person: { id: "usr_1", role: "admin" }, requestId: "req_1" };
  const answer = await server.fetch(question, context as never);
  const text = await answer.text();
  isAnswering = false;
  t.is(answer.headers.get("content-type"), "application/json; charset=utf-8");
  t.is(text, JSON.stringify({ data: { usageSummary: rows } }));
  t.true(turns >= 200, `${turns} turns`);
});

test("JSON in parts equals JSON", async (t) => {
  const rows = (length: number) => Array.from({ length }, (_, index) => ({ index, text: `"${index}\n` }));
  for (const data of [
    {},
    { a: null, b: [], c: {}, d: [[], [1]] },
    { page: { edges: rows(501), info: { next: null } }, sums: rows(50), one: { deep: { er: rows(3) } } },
    { 'odd "name"': rows(51), long: { list: rows(10_000) } },
  ]) {
    let text = "";
    for await (const part of toJsonParts(data)) text += part;
    t.is(text, JSON.stringify(data));
  }
});

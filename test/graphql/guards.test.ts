import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import test from "ava";
import { askHistory } from "../helpers/ask-history.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, usageOf } from "../helpers/test-gateway.ts";
import { toJsonParts } from "../../gateway/graphql/lists-in-turns.ts";
import { createGraphqlServer } from "../../gateway/graphql/server.ts";
import { createLog } from "../../gateway/log.ts";

const everything = `{
  usageRecords(first: 100) { edges { cursor node { id apiKeyId apiKeyName credentialId } } pageInfo { hasNextPage endCursor } }
  usageSummary(groupBy: [API_KEY]) { apiKeyId apiKeyName requests costUsd inputTokens }
}`;

type Everything = {
  usageRecords: { edges: { node: { id: string; apiKeyId: string } }[] };
  usageSummary: { apiKeyId: string; apiKeyName: string }[];
};

const shared = shareGateway();

test("an anonymous client receives neither data, schema nor query errors", async (t) => {
  for (const token of [
    undefined,
    "nonsense",
    `${Buffer.from('{"alg":"none"}').toString("base64url")}.e30.`,
  ]) {
    for (const query of ["{ __schema { types { name } } }", "{ __typename }", "{ nonsense", everything]) {
      const answer = await askHistory(shared(), token, query);
      t.is(answer.status, 401);
      t.is(answer.data, undefined);
      t.is(answer.errors[0]?.extensions["code"], "unauthenticated");
      t.is(answer.errors[0]?.extensions["requestId"], answer.headers.get("x-request-id"));
    }
  }
});

test("a member sees usage of their own keys, an administrator all of it", async (t) => {
  const ada = await addPerson(shared(), `ada@example.org`);
  const bob = await addPerson(shared(), `bob@example.org`);
  const admin = await addPerson(shared(), `admin@example.org`, "admin");
  const use = async (person: typeof ada, name: string) => {
    const { key, value } = await person.console.keys.create.mutate({ name, models: ["demo/echo"] });
    t.is((await postChat(shared(), value, chatBody("demo/echo", "one two three"))).status, 200);
    await usageOf(shared(), key.id);
    return key.id;
  };
  const [adas, bobs, gone] = [
    await use(ada, "Ada's"),
    await use(bob, "Bob's"),
    await use(ada, "Ada's old one"),
  ];
  await ada.console.keys.delete.mutate({ id: gone });
  await ada.console.keys.rename.mutate({ id: adas, name: "Ada's renamed" });

  const seenBy = async ({ accessToken }: typeof ada) =>
    (await askHistory<Everything>(shared(), accessToken, everything)).data ?? t.fail();
  const [adaSees, bobSees, adminSees] = [await seenBy(ada), await seenBy(bob), await seenBy(admin)];
  const keysIn = ({ usageRecords, usageSummary }: Everything) => [
    usageRecords.edges.map(({ node }) => node.apiKeyId),
    usageSummary.map(({ apiKeyId }) => apiKeyId).toSorted(),
  ];
  t.deepEqual(keysIn(adaSees), [[gone, adas], [adas, gone].toSorted()]);
  t.deepEqual(keysIn(bobSees), [[bobs], [bobs]]);
  for (const key of [adas, bobs, gone]) t.true(keysIn(adminSees)[0]?.includes(key));
  const names = adaSees.usageSummary.map(({ apiKeyName }) => apiKeyName).toSorted();
  t.deepEqual(names, ["Ada's old one", "Ada's renamed"]);

  const foreign = bobSees.usageRecords.edges[0]?.node.id;
  const one = `query($id: ID!, $key: ID) {
    usageRecord(id: $id) { id }
    usageRecords(filter: { apiKeyId: $key }) { edges { cursor } }
    usageSummary(filter: { apiKeyId: $key }, groupBy: []) { requests }
  }`;
  const peek = await askHistory(shared(), ada.accessToken, one, { variables: { id: foreign, key: bobs } });
  t.deepEqual(peek.data, {
    usageRecord: null,
    usageRecords: { edges: [] },
    usageSummary: [{ requests: 0 }],
  });
  const own = await askHistory(shared(), bob.accessToken, one, { variables: { id: foreign, key: bobs } });
  t.deepEqual(own.data, {
    usageRecord: { id: foreign },
    usageRecords: { edges: [{ cursor: foreign }] },
    usageSummary: [{ requests: 1 }],
  });
});

let token: string;

test.serial.before(async () => {
  token = (await addPerson(shared(), "somebody@example.org", "admin")).accessToken;
});

test("cross-site requests are refused, and the console's are accepted", async (t) => {
  for (const method of ["POST", "GET"]) {
    const headers = { "sec-fetch-site": "cross-site" };
    t.is((await askHistory(shared(), token, "{ __typename }", { headers, method })).status, 403);
  }
  const own = { headers: { "sec-fetch-site": "same-origin" } };
  t.is((await askHistory(shared(), token, "{ __typename }", own)).status, 200);
});

test("only GET and POST with one JSON query are accepted, and no page is served", async (t) => {
  for (const method of ["PUT", "DELETE", "PATCH"]) {
    const answer = await askHistory(shared(), token, "{ __typename }", { method });
    t.is(answer.status, 405);
    t.is(answer.headers.get("allow"), "GET, POST");
  }
  const batch = await askHistory(shared(), token, "", { body: '[{"query":"{ __typename }"}]' });
  t.is(batch.status, 400);
  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "",
  ]) {
    const form = await askHistory(shared(), token, "{ __typename }", { headers: { "content-type": type } });
    t.is(form.status, 415, type);
  }
  const large = await askHistory(shared(), token, `{ __typename } # ${"x".repeat(70_000)}`);
  t.is(large.status, 413);
  const page = await fetch(`${shared().url}/graphql`, {
    headers: { authorization: `Bearer ${token}`, accept: "text/html" },
  });
  t.is(page.status, 400);
  t.regex(page.headers.get("content-type") ?? "", /^application\/json/);
  const get = await fetch(`${shared().url}/graphql?query=${encodeURIComponent("{ __typename }")}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  t.deepEqual(await get.json(), { data: { __typename: "Query" } });
});

test("cursors continue where they stopped, and invalid cursors or pages are rejected", async (t) => {
  const key = await createKey(shared());
  for (let request = 0; request < 5; request++) {
    await postChat(shared(), key.value, chatBody("demo/echo", "Hi"));
  }
  await usageOf(shared(), key.id);
  const query = `query($after: String, $first: Int, $key: ID) {
    usageRecords(filter: { apiKeyId: $key }, first: $first, after: $after) { edges { cursor } pageInfo { hasNextPage endCursor } }
  }`;
  type Page = { edges: { cursor: string }[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } };
  const seen: string[] = [];
  let at: Page["pageInfo"] = { hasNextPage: true, endCursor: null };
  while (at.hasNextPage) {
    const variables = { first: 2, after: at.endCursor, key: key.id };
    const { data = t.fail() } = await askHistory<{ usageRecords: Page }>(shared(), token, query, {
      variables,
    });
    seen.push(...data.usageRecords.edges.map(({ cursor }) => cursor));
    at = data.usageRecords.pageInfo;
  }
  t.is(new Set(seen).size, 5);
  t.deepEqual(seen, seen.toSorted().reverse());
  for (const variables of [
    { first: 0 },
    { first: -1 },
    { first: 501 },
    { after: "nonsense" },
    { after: "" },
  ]) {
    const { status, errors } = await askHistory(shared(), token, query, { variables });
    t.is(status, 400);
    t.regex(errors[0]?.message ?? "", /^(first is -?\d+\. Use .+ to 500|after is not a valid cursor)/);
    t.deepEqual(errors[0]?.path, ["usageRecords"]);
  }
});

test("money is exact, and timestamps require an offset", async (t) => {
  const key = await createKey(shared(), ["demo/echo"]);
  await shared().admin.models.update.mutate({ slug: "demo/echo", prices: { input: 0.123, output: 1 } });
  await postChat(shared(), key.value, chatBody("demo/echo", "one two three"));
  const [record] = await usageOf(shared(), key.id);
  const query = `query($key: ID) {
    usageRecords(filter: { apiKeyId: $key }) { edges { node { costUsd inputPriceUsd outputPriceUsd } } }
    usageSummary(filter: { apiKeyId: $key }, groupBy: [STATUS], interval: MONTH) { costUsd unknownCosts status interval p95LatencyMs }
  }`;
  const { data = t.fail() } = await askHistory<{
    usageRecords: { edges: { node: { costUsd: string } }[] };
    usageSummary: { costUsd: string; interval: string }[];
  }>(shared(), token, query, { variables: { key: key.id } });
  const [{ node } = t.fail()] = data.usageRecords.edges;
  const [sum = t.fail()] = data.usageSummary;
  t.is(Math.round(Number(node.costUsd) * 1e9), record?.cost ?? -1);
  t.like(node, { inputPriceUsd: "0.123", outputPriceUsd: "1" });
  t.like(sum, { costUsd: node.costUsd, unknownCosts: 0, status: "SUCCEEDED" });
  t.regex(sum.interval, /^\d{4}-\d\d-01T00:00:00\.000Z$/);
  for (const from of ["2026-11-01", "2026-11-01T00:00:00", "tomorrow", 5, "2026-02-29T12:00:00+10:00"]) {
    const asked = await askHistory(
      shared(),
      token,
      "query($from: DateTime) { usageRecords(filter: { from: $from }) { edges { cursor } } }",
      { variables: { from } },
    );
    t.is(asked.status, 400);
    t.regex(asked.errors[0]?.message ?? "", /Use a timestamp such as/);
  }
  const far = `{ usageSummary(filter: { from: "0000-01-01T00:00:00Z", to: "9999-12-31T23:59:59Z" }, groupBy: []) { requests } }`;
  const { data: ever } = await askHistory<{ usageSummary: { requests: number }[] }>(shared(), token, far);
  t.true((ever?.usageSummary[0]?.requests ?? 0) > 0);
});

test("an unavailable database returns 503 with a message, an id and no stack", async (t) => {
  const gateway = await startTestGateway(t, { environment: { DATABASE_TIMEOUT_MS: "10000" } });
  const person = await addPerson(gateway, "patient@example.org");
  t.is((await askHistory(gateway, person.accessToken, "{ __typename }")).status, 200);
  const { promise, resolve } = Promise.withResolvers<void>();
  gateway.services.database.read(() => promise).catch(() => {});

  const answer = await askHistory(gateway, person.accessToken, everything);
  resolve();

  t.is(answer.status, 503);
  t.truthy(answer.headers.get("retry-after"));
  t.regex(answer.errors[0]?.message ?? "", /database/);
  t.is(answer.errors[0]?.extensions["requestId"], answer.headers.get("x-request-id"));
  t.false(answer.text.includes(" at "));
});

test("an internal error is logged and not returned", async (t) => {
  const gateway = await startTestGateway(t);
  const person = await addPerson(gateway, "unlucky@example.org");
  Object.assign(gateway.services.usageHistory, { list: () => Promise.reject(new Error("a secret of ours")) });

  const answer = await askHistory(gateway, person.accessToken, everything);

  t.is(answer.status, 500);
  t.false(answer.text.includes("secret"));
  const id = answer.headers.get("x-request-id") ?? "none";
  t.true(gateway.log.some((line) => line.includes(id) && line.includes("failed with an internal error")));
});

test("a client that disconnects mid-query causes no error", async (t) => {
  const { port, hostname } = new URL(shared().url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"que`,
  );
  await once(socket, "connect");
  socket.end();
  await text(socket);
  t.is((await askHistory(shared(), token, "{ __typename }")).status, 200);
});

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

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { printUsageTypes } from "./print-usage-types.ts";
import {
  buildSchema,
  getNamedType,
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  parse,
  validate,
} from "graphql";
import { createSchema, printUsageSchema } from "../../gateway/graphql/schema.ts";
import { askHistory } from "../helpers/ask-history.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";
import { addUsage } from "../helpers/usage-fixture.ts";

const schema = printUsageSchema();

test("the schema equals the checked-in one: run `npm run graphql:schema`", (t) => {
  const checkedIn = new URL("../../gateway/graphql/schema.graphql", import.meta.url);
  t.is(schema, readFileSync(checkedIn, "utf8"));
});

// External programs depend on these fields, so fields may be added but not changed.
const contract: Record<string, string[]> = {
  "type Query": [
    "usageRecords(filter: UsageFilter, first: Int = 50, after: String): UsageRecordConnection!",
    "usageRecord(id: ID!): UsageRecord",
    "usageSummary(filter: UsageFilter, groupBy: [UsageDimension!]!, interval: UsageInterval): [UsageSummaryRow!]!",
  ],
  "input UsageFilter": [
    "apiKeyId: ID",
    "model: String",
    "provider: String",
    "status: UsageStatus",
    "from: DateTime",
    "to: DateTime",
  ],
  "enum UsageDimension": ["API_KEY", "MODEL", "PROVIDER", "STATUS"],
  "enum UsageInterval": ["HOUR", "DAY", "MONTH"],
  "enum UsageStatus": ["SUCCEEDED", "FAILED", "CANCELLED", "INTERRUPTED"],
  "type UsageRecord": [
    "id: ID!",
    "createdAt: DateTime!",
    "apiKeyId: ID!",
    "apiKeyName: String!",
    "model: String!",
    "provider: String!",
    "upstreamModel: String",
    "endpoint: String!",
    "stream: Boolean!",
    "status: UsageStatus!",
    "httpStatus: Int!",
    "errorCode: String",
    "inputTokens: Int",
    "outputTokens: Int",
    "cachedInputTokens: Int",
    "reasoningTokens: Int",
    "estimated: Boolean!",
    "costUsd: Decimal",
    "latencyMs: Int!",
    "timeToFirstTokenMs: Int",
  ],
  "type UsageSummaryRow": [
    "interval: DateTime",
    "apiKeyId: ID",
    "model: String",
    "provider: String",
    "status: UsageStatus",
    "requests: Int!",
    "inputTokens: BigInt!",
    "outputTokens: BigInt!",
    "costUsd: Decimal",
  ],
  "type UsageRecordConnection": ["edges: [UsageRecordEdge!]!", "pageInfo: PageInfo!"],
  "type UsageRecordEdge": ["cursor: String!", "node: UsageRecord!"],
  "type PageInfo": ["endCursor: String", "hasNextPage: Boolean!"],
};
for (const [type, fields] of Object.entries(contract)) {
  test(`${type} matches the contract`, (t) => {
    const found = fieldsOf(type);
    for (const field of fields)
      t.true(found.includes(normal(field)), `${field} is not among ${found.join("; ")}`);
  });
}

/** Returns each field's definition on one line, without its description. */
function fieldsOf(type: string): string[] {
  const body = new RegExp(`^${type} \\{\n([^]*?)^\\}`, "m").exec(schema)?.[1] ?? "";
  const plain = body.replaceAll(/"""[^]*?"""/g, "").replaceAll(
    /\(([^)]*)\)/g,
    (_, list: string) =>
      `(${list
        .trim()
        .split(/\s*\n\s*|, /)
        .filter(Boolean)
        .join(", ")})`,
  );
  return plain
    .split("\n")
    .map((line) => normal(line.trim()))
    .filter(Boolean);
}

/** The order of arguments does not matter. */
function normal(field: string): string {
  return field.replace(/\((.*)\)/, (_, list: string) => `(${list.split(", ").toSorted().join(", ")})`);
}

const executable = createSchema();
const dimensions = (executable.getType("UsageDimension") as GraphQLEnumType)
  .getValues()
  .map(({ name }) => name);
const fields = (executable.getType("UsageFilter") as GraphQLInputObjectType).getFields();
const [from, to] = [new Date("2026-11-01T10:20:00Z"), new Date("2026-11-03T15:10:00Z")];

const shared = shareGateway();

test("no dimension and no filter shows a member foreign usage", async (t) => {
  const ada = await addPerson(shared(), `ada@example.org`);
  const bob = await addPerson(shared(), `bob@example.org`);
  const bobId = (await bob.console.auth.me.query()).id;
  const [foreign] = await addUsage(shared(), 50, { from, to, ownerId: bobId });
  const summary = `query($by: [UsageDimension!]!, $filter: UsageFilter) {
    usageSummary(groupBy: $by, filter: $filter) { requests }
  }`;
  const records = "query($filter: UsageFilter) { usageRecords(filter: $filter) { edges { cursor } } }";

  for (const by of dimensions) {
    const variables = { by: [by] };
    const seen = await askHistory(shared(), ada.accessToken, summary, { variables });
    t.deepEqual(seen.data, { usageSummary: [] }, by);
    const own = await askHistory(shared(), bob.accessToken, summary, { variables });
    t.deepEqual(Object.keys(own.data ?? {}), ["usageSummary"]);
    t.notDeepEqual(own.data, { usageSummary: [] }, by);
  }

  const given: Record<string, unknown> = {
    ...foreign,
    statuses: [foreign?.status],
    errorReason: foreign?.errorReason ?? "",
    clientTool: foreign?.clientTool ?? "",
    httpStatusClass: Math.floor((foreign?.httpStatus ?? 0) / 100),
    minLatencyMs: foreign?.latencyMs,
    from,
    to,
  };
  for (const name of Object.keys(fields)) {
    t.not(given[name], undefined, `a value for ${String(getNamedType(fields[name]?.type))} ${name}`);
    const variables = { filter: { [name]: given[name] } };
    const seen = await askHistory(shared(), ada.accessToken, records, { variables });
    t.deepEqual(seen.data, { usageRecords: { edges: [] } }, name);
    const own = await askHistory(shared(), bob.accessToken, records, { variables });
    t.notDeepEqual(own.data, { usageRecords: { edges: [] } }, name);
  }
});

const readme = readFileSync(new URL("../../gateway/usage/README.md", import.meta.url), "utf8");
const section = readme.split("\n## ").find((text) => text.startsWith("Query it")) ?? "";

test("the query in gateway/usage/README.md returns the result beside it", async (t) => {
  const { query } = JSON.parse(/-d '(.+)'\n/.exec(section)?.[1] ?? "") as { query: string };
  const [, shown = ""] = /```json\n([^]+?)\n```/.exec(section) ?? [];
  const [expected] = (JSON.parse(shown) as { data: { usageSummary: object[] } }).data.usageSummary;

  const gateway = await startTestGateway(t);
  const upstream = await createUpstream(t, (_request, response) => sendCompletion(response));
  const { value, model } = await connectUpstream(gateway, upstream, { name: "acme" });
  for (const status of [200, 200, 200, 200, 400]) {
    const body = chatBody(model, "Hello", status === 400 ? { temperature: 3 } : {});
    t.is((await postChat(gateway, value, body)).status, status);
  }
  await gateway.services.recorder.flush();

  const { data, errors } = await askHistory<{ usageSummary: object[]; usageRecords: { edges: unknown[] } }>(
    gateway,
    gateway.accessToken,
    query,
  );
  t.deepEqual(errors, []);
  const today = new Date(new Date().setUTCHours(0, 0, 0, 0)).toISOString();
  t.deepEqual(data?.usageSummary, [{ ...expected, interval: today }]);
  t.is(data?.usageRecords.edges.length, 5);
});

const top = join(import.meta.dirname, "../..");
const usageSchema = buildSchema(readFileSync(join(top, "gateway/graphql/schema.graphql"), "utf8"));

const literals = globSync("console/src/**/*.ts", { cwd: top }).flatMap((file) =>
  [
    ...readFileSync(join(top, file), "utf8").matchAll(
      /const (\w+) = graphql\(\s*`([^`]*)`(?:,\s*\[(\w+)\])?/g,
    ),
  ].map(([, name = "", text = "", fragment = ""]) => ({ file, name, text, fragment })),
);
const texts = new Map(literals.map(({ name, text }) => [name, text]));
const consoleDocuments = literals
  .filter(({ text }) => !/^\s*fragment/.test(text))
  .map(({ file, text, fragment }) => ({ file, document: text + (texts.get(fragment) ?? "") }));

test("the console's types equal the schema: run `npm run graphql:schema`", (t) => {
  const checkedIn = join(top, "console/src/lib/session/usage-schema.d.ts");
  t.is(printUsageTypes(usageSchema), readFileSync(checkedIn, "utf8"));
});

test("the console's queries match the schema of the usage history", (t) => {
  t.is(consoleDocuments.length, 6);
  for (const { file, document } of consoleDocuments) {
    t.deepEqual(validate(usageSchema, parse(document)).map(String), [], file);
  }
});

let token: string;

test.serial.before(async () => {
  token = (await addPerson(shared(), "eve@example.org")).accessToken;
});

test("introspection queries of common tools are answered", async (t) => {
  const typeRef = `${"ofType { kind name ".repeat(9)}kind name${"} ".repeat(9)}`;
  const introspection = `query IntrospectionQuery {
    __schema { queryType { name } mutationType { name } subscriptionType { name } types { ...FullType }
      directives { name description locations args(includeDeprecated: true) { ...InputValue } } } }
    fragment FullType on __Type { kind name description
      fields(includeDeprecated: true) { name description args(includeDeprecated: true) { ...InputValue } type { ...TypeRef } isDeprecated deprecationReason }
      inputFields(includeDeprecated: true) { ...InputValue } interfaces { ...TypeRef }
      enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason } possibleTypes { ...TypeRef } }
    fragment InputValue on __InputValue { name description type { ...TypeRef } defaultValue isDeprecated deprecationReason }
    fragment TypeRef on __Type { kind name ${typeRef} }`;
  const answer = await askHistory(shared(), token, introspection);
  t.is(answer.status, 200, answer.text.slice(0, 500));
});

test("the largest page with every field is answered", async (t) => {
  const fields = `id createdAt apiKeyId apiKeyName model provider upstreamModel credentialId attempts endpoint clientTool stream status
    httpStatus errorCode limitedBy errorReason dropped inputTokens outputTokens cachedInputTokens cacheWriteInputTokens reasoningTokens estimated costUsd
    inputPriceUsd cachedInputPriceUsd cacheWritePriceUsd outputPriceUsd latencyMs timeToFirstTokenMs
    timing { receivedMs attempts { provider model startMs durationMs failure } }`;
  const query = `query($first: Int, $after: String) {
    usageRecords(first: $first, after: $after) { edges { cursor node { ${fields} } } pageInfo { hasNextPage endCursor } }
    usageSummary(groupBy: [MODEL, STATUS], interval: DAY) { interval model status requests costUsd } }`;
  const answer = await askHistory(shared(), token, query, { variables: { first: 500 } });
  t.is(answer.status, 200, answer.text.slice(0, 500));
});

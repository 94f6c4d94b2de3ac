import { readFileSync } from "node:fs";
import test from "ava";
import { printUsageSchema } from "../../gateway/graphql/schema.ts";

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

/** Returns the fields of a type, one per line, without descriptions. */
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

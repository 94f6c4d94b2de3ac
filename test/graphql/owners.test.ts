import test from "ava";
import { type GraphQLEnumType, type GraphQLInputObjectType, getNamedType } from "graphql";
import { createSchema } from "../../gateway/graphql/schema.ts";
import { askHistory } from "../helpers/ask-history.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import { addUsage } from "../helpers/usage-fixture.ts";

const schema = createSchema();
const dimensions = (schema.getType("UsageDimension") as GraphQLEnumType).getValues().map(({ name }) => name);
const fields = (schema.getType("UsageFilter") as GraphQLInputObjectType).getFields();
const [from, to] = [new Date("2026-11-01T10:20:00Z"), new Date("2026-11-03T15:10:00Z")];

for (const kind of databaseKinds) {
  const shared = shareGateway({ kind });

  test(`${kind}: no dimension and no filter shows a member foreign usage`, async (t) => {
    const ada = await addPerson(shared(), `ada-${kind}@example.org`);
    const bob = await addPerson(shared(), `bob-${kind}@example.org`);
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
}

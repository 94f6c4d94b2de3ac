import test from "ava";
import { addPerson } from "../helpers/call-procedure.ts";
import { askHistory } from "../helpers/ask-history.ts";
import { keyOf, spendCent, startPriced } from "../helpers/priced-gateway.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import type { TestGateway } from "../helpers/test-gateway.ts";

type Summary = { usageSummary: { teamId: string; teamName: string | null; requests: number }[] };
type Records = {
  usageRecords: { edges: { node: { id: string; teamId: string | null; teamName: string | null } }[] };
};

const summary = `query ($filter: UsageFilter) {
  usageSummary(filter: $filter, groupBy: [TEAM]) { teamId teamName requests }
}`;
const records = `query ($filter: UsageFilter) {
  usageRecords(filter: $filter) { edges { node { id teamId teamName } } }
}`;

async function summarize(gateway: TestGateway, accessToken: string, filter: object = {}) {
  const { data, text } = await askHistory<Summary>(gateway, accessToken, summary, { variables: { filter } });
  if (!data) throw new Error(text);
  return Object.fromEntries(data.usageSummary.map((row) => [row.teamName ?? "none", row.requests]));
}

async function list(gateway: TestGateway, accessToken: string, filter: object) {
  const { data, text } = await askHistory<Records>(gateway, accessToken, records, { variables: { filter } });
  if (!data) throw new Error(text);
  return data.usageRecords.edges.map(({ node }) => node);
}

for (const kind of databaseKinds) {
  test(`${kind}: a lead sees all usage of the team, a member its own, and the name stays`, async (t) => {
    const gateway = await startPriced(t, {}, { kind });
    const { admin, accessToken } = gateway;
    const [lead, member] = [
      await addPerson(gateway, "lead@example.com"),
      await addPerson(gateway, "member@example.com"),
    ];
    const { id: teamId } = await admin.teams.create.mutate({ name: "Search" });
    await admin.teams.addMember.mutate({ id: teamId, userId: lead.id, role: "lead" });
    await admin.teams.addMember.mutate({ id: teamId, userId: member.id });
    const models = ["demo/echo"];
    const values: string[] = [];
    for (const ownerId of [lead.id, member.id, null]) {
      const created = await admin.keys.create.mutate({ name: "A team's", models, teamId, ownerId });
      values.push(created.value);
    }
    values.push((await keyOf(gateway, member.id)).value);
    for (const value of values) t.is((await spendCent(gateway, value)).status, 200);
    await admin.teams.update.mutate({ id: teamId, name: "Find" });
    await admin.teams.setStatus.mutate({ id: teamId, status: "archived" });
    await gateway.services.recorder.flush();

    t.deepEqual(await summarize(gateway, accessToken), { Find: 3, none: 1 });
    t.deepEqual(await summarize(gateway, accessToken, { teamId: "" }), { none: 1 });
    t.deepEqual(await summarize(gateway, lead.accessToken, { teamId }), { Find: 3 });
    t.deepEqual(await summarize(gateway, lead.accessToken), { Find: 1 });
    t.deepEqual(await summarize(gateway, member.accessToken, { teamId }), { Find: 1 });
    t.deepEqual(await summarize(gateway, member.accessToken), { Find: 1, none: 1 });

    const ofTeam = await list(gateway, lead.accessToken, { teamId });
    t.is(ofTeam.length, 3);
    for (const record of ofTeam) t.like(record, { teamId, teamName: "Find" });
    t.is((await list(gateway, member.accessToken, { teamId })).length, 1);
    t.is((await list(gateway, accessToken, { teamId: "" })).length, 1);
    const ids = new Set((await list(gateway, accessToken, {})).map(({ id }) => id));
    const seen = async (token: string) => {
      const query = "query ($id: ID!) { usageRecord(id: $id) { id } }";
      let found = 0;
      for (const id of ids) {
        const { data } = await askHistory<{ usageRecord: object | null }>(gateway, token, query, {
          variables: { id },
        });
        if (data?.usageRecord) found++;
      }
      return found;
    };
    t.deepEqual(
      [await seen(accessToken), await seen(lead.accessToken), await seen(member.accessToken)],
      [4, 3, 2],
    );
  });
}

import test from "ava";
import { assertError } from "../helpers/assert-error.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { eventually } from "../helpers/eventually.ts";
import { openStream } from "../helpers/open-chat.ts";
import { postTo } from "../helpers/post-chat.ts";
import { keyOf, spendCent, startPriced } from "../helpers/priced-gateway.ts";
import { databaseKinds, lockingKinds } from "../helpers/test-database.ts";
import { startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";
import { admin } from "../helpers/usage-fixture.ts";

const quotaError = { status: 402, type: "insufficient_quota", param: null, code: "insufficient_quota" };
const invalidKey = { status: 401, type: "invalid_request_error", param: null, code: "invalid_api_key" };

async function createTeam({ admin }: TestGateway, name: string, ...userIds: string[]) {
  const { id } = await admin.teams.create.mutate({ name });
  for (const userId of userIds) await admin.teams.addMember.mutate({ id, userId });
  return id;
}

async function teamKeyOf({ admin }: TestGateway, teamId: string, ownerId: string | null) {
  const criteria = { name: "A team's", models: ["demo/echo"], teamId, ownerId };
  const { key, value } = await admin.keys.create.mutate(criteria);
  return { id: key.id, value };
}

for (const kind of databaseKinds) {
  test(`${kind}: a team pays for its keys, and their owner does not`, async (t) => {
    const environment = { PERSON_BUDGET_USD_PER_MONTH_MAX: "0.01" };
    const gateway = await startPriced(t, environment, { kind });
    const grace = await addPerson(gateway, "grace@example.com");
    const search = await createTeam(gateway, "Search", grace.id);
    const limits = { budgetsUsd: { month: 0.03 } };
    await gateway.admin.teams.setLimits.mutate({ id: search, limits });
    const [own, service] = [
      await teamKeyOf(gateway, search, grace.id),
      await teamKeyOf(gateway, search, null),
    ];
    const personal = await keyOf(gateway, grace.id);

    for (const { value } of [own, own, service]) t.is((await spendCent(gateway, value)).status, 200);
    for (const { value } of [own, service]) {
      t.regex(
        assertError(t, await spendCent(gateway, value), quotaError),
        /^The budget for all API keys of this key's team is exceeded: \$0\.03 per month\. Retry after /,
      );
    }
    t.is((await spendCent(gateway, personal.value)).status, 200, "the owner's budget has its cent");
    t.regex(
      assertError(t, await spendCent(gateway, personal.value), quotaError),
      /^The budget for all API keys of this key's owner is exceeded/,
    );
    await gateway.services.recorder.flush();
    const { budgets } = await grace.console.teams.get.query({ id: search });
    t.like(budgets[0], { period: "month", budgetUsd: 0.03, spentUsd: 0.03, spentPercent: 100 });

    await gateway.close();
    const again = await startTestGateway(t, { environment: gateway.environment });
    assertError(t, await spendCent(again, service.value), quotaError);
    await again.admin.teams.setLimits.mutate({ id: search, limits: { budgetsUsd: { month: 0.05 } } });
    for (const { value } of [own, service]) t.is((await spendCent(again, value)).status, 200);
    assertError(t, await spendCent(again, own.value), quotaError);
    assertError(t, await spendCent(again, personal.value), quotaError);
  });

  test(`${kind}: a paused team stops its keys, and activating restores what was there`, async (t) => {
    const gateway = await startTestGateway(t, { kind });
    const { admin } = gateway;
    const team = await createTeam(gateway, "Search");
    const [working, stopped] = [await teamKeyOf(gateway, team, null), await teamKeyOf(gateway, team, null)];
    const other = await teamKeyOf(gateway, await createTeam(gateway, "Ads"), null);
    await admin.keys.deactivate.mutate({ id: stopped.id });
    t.is((await spendCent(gateway, working.value)).status, 200);

    for (const status of ["paused", "archived"] as const) {
      await admin.teams.setStatus.mutate({ id: team, status });
      for (const { value } of [working, stopped]) assertError(t, await spendCent(gateway, value), invalidKey);
      t.is((await spendCent(gateway, other.value)).status, 200);
      t.like(await admin.keys.get.query({ id: working.id }), { status: "active", stoppedBy: "team" });
      await admin.teams.setStatus.mutate({ id: team, status: "active" });
      t.is((await spendCent(gateway, working.value)).status, 200);
      assertError(t, await spendCent(gateway, stopped.value), invalidKey);
    }
  });
}

test("pausing a team ends its streams", async (t) => {
  const gateway = await startTestGateway(t);
  const team = await createTeam(gateway, "Search");
  const { value } = await teamKeyOf(gateway, team, null);
  const stream = await openStream(gateway, value, `/slow 100 ${"word ".repeat(300)}`);
  await gateway.admin.teams.setStatus.mutate({ id: team, status: "paused" });
  await stream.ended;
  t.regex(stream.text(), /invalid_api_key/);
  t.notRegex(stream.text(), /\[DONE\]/);
});

test("a limit of a team names the team, and rates count all its keys", async (t) => {
  const gateway = await startTestGateway(t);
  const team = await createTeam(gateway, "Search");
  await gateway.admin.teams.setLimits.mutate({ id: team, limits: { requestsPerMinute: 2 } });
  const [one, other] = [await teamKeyOf(gateway, team, null), await teamKeyOf(gateway, team, null)];
  for (const { value } of [one, other]) t.is((await spendCent(gateway, value)).status, 200);
  const limited = { status: 429, type: "requests", param: null, code: "rate_limit_exceeded" };
  t.regex(
    assertError(t, await spendCent(gateway, one.value), limited),
    /^Rate limit reached for all API keys of this key's team: 2 requests per minute\./,
  );
});

test("a team's budgets reset with their period, and a new one counts only its period", async (t) => {
  let now = Date.UTC(2027, 0, 30, 12);
  const gateway = await startPriced(t, {}, { runtime: { now: () => now } });
  const team = await createTeam(gateway, "Search");
  const { value } = await teamKeyOf(gateway, team, null);
  // Access tokens expire when the clock moves.
  const author = { ...admin, address: "127.0.0.1" };
  const set = (budgetsUsd: object) =>
    gateway.services.holderLimits.set(author, { holder: team, limits: { budgetsUsd } });
  await set({ day: 0.01 });
  t.is((await spendCent(gateway, value)).status, 200);
  assertError(t, await spendCent(gateway, value), quotaError);
  now = Date.UTC(2027, 0, 31);
  t.is((await spendCent(gateway, value)).status, 200, "a new day");
  assertError(t, await spendCent(gateway, value), quotaError);
  now = Date.UTC(2027, 1, 1);
  await set({ day: null, month: 0.01 });
  t.is((await spendCent(gateway, value)).status, 200, "January does not count");
  assertError(t, await spendCent(gateway, value), quotaError);
  now = Date.UTC(2027, 2, 1);
  t.is((await spendCent(gateway, value)).status, 200, "a new month");
});

test("neither a rotation nor a new key nor a handover gives a team another budget", async (t) => {
  const gateway = await startPriced(t, {});
  const { admin } = gateway;
  const grace = await addPerson(gateway, "grace@example.com");
  const team = await createTeam(gateway, "Search", grace.id);
  await admin.teams.setLimits.mutate({ id: team, limits: { budgetsUsd: { total: 0.01 } } });
  const { id, value } = await teamKeyOf(gateway, team, grace.id);
  t.is((await spendCent(gateway, value)).status, 200);
  const rotated = await admin.keys.rotate.mutate({ id, overlapSeconds: 0 });
  assertError(t, await spendCent(gateway, rotated.value), quotaError);
  await admin.keys.setOwner.mutate({ id, ownerId: null });
  assertError(t, await spendCent(gateway, rotated.value), quotaError);
  await admin.keys.delete.mutate({ id });
  assertError(t, await spendCent(gateway, (await teamKeyOf(gateway, team, null)).value), quotaError);
});

test("edits keep the owner and the team of a key", async (t) => {
  const gateway = await startTestGateway(t);
  const { keys } = gateway.admin;
  const grace = await addPerson(gateway, "grace@example.com");
  const team = await createTeam(gateway, "Search", grace.id);
  const { id } = await teamKeyOf(gateway, team, grace.id);
  await keys.rename.mutate({ id, name: "Renamed" });
  await keys.setModels.mutate({ id, models: [] });
  await keys.setLimits.mutate({ id, limits: { requestsPerMinute: 1 } });
  await keys.deactivate.mutate({ id });
  await keys.activate.mutate({ id });
  const { key } = await keys.rotate.mutate({ id, overlapSeconds: 0 });
  t.deepEqual([key.owner?.id, key.team?.id], [grace.id, team]);
});

for (const kind of lockingKinds) {
  test(`${kind}: a team's budget and status hold in every process`, async (t) => {
    const environment = { BUDGET_REFRESH_INTERVAL_MS: "20" };
    const here = await startPriced(t, environment, { kind });
    const DATABASE_URL = here.environment["DATABASE_URL"] ?? "";
    const there = await startTestGateway(t, { environment: { ...environment, DATABASE_URL } });
    const team = await createTeam(here, "Search");
    await here.admin.teams.setLimits.mutate({ id: team, limits: { budgetsUsd: { month: 0.02 } } });
    const { value } = await teamKeyOf(here, team, null);
    t.is((await spendCent(here, value)).status, 200);
    t.is((await spendCent(there, value)).status, 200);
    await here.services.recorder.flush();
    await there.services.recorder.flush();
    for (const gateway of [here, there])
      await eventually(async () => (await spendCent(gateway, value)).status === 402);
    await here.admin.teams.setStatus.mutate({ id: team, status: "paused" });
    await eventually(async () => (await spendCent(there, value)).status === 401);
    await here.admin.teams.setStatus.mutate({ id: team, status: "active" });
    await eventually(async () => (await spendCent(there, value)).status === 402);
  });
}

const impossible = { negative: "-1", infinite: "1e999", "beyond the type": "1e300", "not a number": '"NaN"' };

for (const [title, amount] of Object.entries(impossible)) {
  test(`a limit that is ${title} gets an error that names it`, async (t) => {
    const gateway = await startTestGateway(t);
    const id = await createTeam(gateway, "Search");
    const headers = { authorization: `Bearer ${gateway.accessToken}` };
    for (const [path, limits] of [
      ["limits.requestsPerMinute", `{"requestsPerMinute":${amount}}`],
      ["limits.budgetsUsd.day", `{"budgetsUsd":{"day":${amount}}}`],
    ]) {
      const body = `{"id":"${id}","limits":${limits}}`;
      const answer = await postTo(gateway, "/trpc/teams.setLimits", headers, body);
      t.is(answer.status, 400, answer.text);
      t.true(answer.text.includes(`"param":"${path}"`), answer.text);
    }
    const { limits } = await gateway.admin.teams.get.query({ id });
    t.is(limits.requestsPerMinute, null);
    t.is(limits.budgetsUsd.day, null);
  });
}

import test from "ava";
import { addPerson } from "../helpers/call-procedure.ts";
import { keyOf, spendCent, startPriced } from "../helpers/priced-gateway.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";

const now = Date.UTC(2027, 0, 30, 12);
const tomorrow = "2027-01-31T00:00:00.000Z";
const nextMonth = "2027-02-01T00:00:00.000Z";

for (const kind of databaseKinds) {
  test(`${kind}: people see spending of their budgets, administrators the gateway's`, async (t) => {
    const environment = {
      PERSON_BUDGET_USD_PER_DAY_MAX: "0.02",
      PERSON_BUDGET_USD_PER_MONTH_MAX: "0.03",
      GATEWAY_BUDGET_USD_PER_MONTH_MAX: "1",
      // The interval is so long that only reads refresh the spending.
      BUDGET_REFRESH_INTERVAL_MS: "100000",
    };
    const runtime = { now: () => now };
    const gateway = await startPriced(t, environment, { kind, runtime });
    const DATABASE_URL = gateway.environment["DATABASE_URL"] ?? "";
    const other = await startTestGateway(t, { environment: { ...environment, DATABASE_URL }, runtime });
    const grace = await addPerson(gateway, "grace@example.com");
    const linus = await addPerson(gateway, "linus@example.com");
    const [first, second] = [await keyOf(gateway, grace.id), await keyOf(gateway, grace.id)];
    const own = await createKey(gateway);

    const day = { period: "day", budgetUsd: 0.02, spentUsd: 0, spentPercent: 0, endsAt: tomorrow };
    const month = { period: "month", budgetUsd: 0.03, spentUsd: 0, spentPercent: 0, endsAt: nextMonth };
    t.deepEqual(await grace.console.overview.budgets.query(), { person: [day, month], gateway: [] });

    t.is((await spendCent(gateway, first.value)).status, 200);
    t.is((await spendCent(other, second.value)).status, 200);
    t.is((await spendCent(gateway, own.value)).status, 200);
    await other.services.recorder.flush();
    await gateway.admin.keys.delete.mutate({ id: first.id });
    t.deepEqual(await grace.console.overview.budgets.query(), {
      person: [
        { ...day, spentUsd: 0.02, spentPercent: 100 },
        { ...month, spentUsd: 0.02, spentPercent: 66 },
      ],
      gateway: [],
    });
    t.deepEqual((await linus.console.overview.budgets.query()).person, [day, month]);
    t.deepEqual(await gateway.admin.overview.budgets.query(), {
      person: [
        { ...day, spentUsd: 0.01, spentPercent: 50 },
        { ...month, spentUsd: 0.01, spentPercent: 33 },
      ],
      gateway: [{ ...month, budgetUsd: 1, spentUsd: 0.03, spentPercent: 3 }],
    });
  });
}

test("without budgets in the environment no spending is shown", async (t) => {
  const gateway = await startPriced(t, {});
  const { value } = await createKey(gateway);
  t.is((await spendCent(gateway, value)).status, 200);
  t.deepEqual(await gateway.admin.overview.budgets.query(), { person: [], gateway: [] });
});

const dayMs = 86_400_000;

test("keys that expire, spend their budget or were never used are found, own ones only", async (t) => {
  const now = Date.now();
  const gateway = await startPriced(t, {});
  const { id, console: member } = await addPerson(gateway, "grace@example.com");
  const { value } = await keyOf(gateway, id);
  const create = async (name: string, inDays: number | null, more = {}) => {
    const expiresAt = inDays === null ? null : new Date(now + inDays * dayMs).toISOString();
    return (await gateway.admin.keys.create.mutate({ name, models: [], expiresAt, ...more })).key;
  };
  await create("In a month", 30);
  const soon = await create("In a week", 6.9);
  const sooner = await create("Tomorrow", 1);
  const off = await create("Switched off", 1);
  await gateway.admin.keys.deactivate.mutate({ id: off.id });
  t.is((await spendCent(gateway, value)).status, 200);
  const spent = (await member.keys.list.query({})).items[0]?.id ?? "";
  await gateway.admin.keys.setLimits.mutate({ id: spent, limits: { budgetsUsd: { day: 0.01 } } });
  await gateway.services.recorder.flush();
  // An unflushed `lastUsedAt` could change the result between two of the queries below.
  await gateway.services.lastUsed.flush();

  const all = await gateway.admin.overview.keys.query();
  t.deepEqual(
    all.expiring.keys.map((key) => key.id),
    [sooner.id, soon.id],
  );
  t.is(all.expiring.count, 2);
  t.deepEqual(
    all.budgets.keys.map((key) => [key.id, key.spentPercent]),
    [[spent, 100]],
  );
  t.true(all.unused.keys.some(({ name }) => name === "In a month"));
  t.false(all.unused.keys.some((key) => key.id === off.id));
  for (const attention of ["expiring", "unused"] as const) {
    const { items } = await gateway.admin.keys.list.query({ attention, status: "active" });
    t.is(items.length, all[attention].count, attention);
    t.is((await gateway.admin.keys.counts.query({ attention })).active, all[attention].count);
  }

  const own = await member.overview.keys.query();
  t.is(own.expiring.count, 0);
  t.is(own.budgets.count, 1);
  t.is(own.unused.keys.filter(({ name }) => name === "Tomorrow").length, 0);
});

for (const kind of databaseKinds) {
  test(`${kind}: a key shows its owner's spending, and to administrators the gateway's`, async (t) => {
    const environment = {
      PERSON_BUDGET_USD_PER_DAY_MAX: "0.02",
      GATEWAY_BUDGET_USD_PER_MONTH_MAX: "0.03",
      // The interval is so long that only reads refresh the spending.
      BUDGET_REFRESH_INTERVAL_MS: "100000",
    };
    const gateway = await startPriced(t, environment, { kind, runtime: { now: () => now } });
    const grace = await addPerson(gateway, "grace@example.com");
    const linus = await addPerson(gateway, "linus@example.com");
    const [first, second] = [await keyOf(gateway, grace.id), await keyOf(gateway, grace.id)];
    const others = await keyOf(gateway, linus.id);
    const seenBy = async ({ keys }: typeof gateway.admin, { id }: { id: string }) =>
      (await keys.usage.query({ id })).sharedBudgets;

    const day = { period: "day", budgetUsd: 0.02, spentUsd: 0.02, spentPercent: 100, endsAt: tomorrow };
    const month = { period: "month", budgetUsd: 0.03, spentUsd: 0.02, spentPercent: 66, endsAt: nextMonth };
    t.is((await spendCent(gateway, first.value)).status, 200);
    t.is((await spendCent(gateway, second.value)).status, 200);
    t.deepEqual(await seenBy(grace.console, first), { person: [day], gateway: [], isGatewaySpent: false });
    t.deepEqual(await seenBy(gateway.admin, first), {
      person: [day],
      gateway: [month],
      isGatewaySpent: false,
    });

    t.is((await spendCent(gateway, others.value)).status, 200);
    const half = { ...day, spentUsd: 0.01, spentPercent: 50 };
    t.deepEqual(await seenBy(linus.console, others), { person: [half], gateway: [], isGatewaySpent: true });
    t.deepEqual(await seenBy(gateway.admin, others), {
      person: [half],
      gateway: [{ ...month, spentUsd: 0.03, spentPercent: 100 }],
      isGatewaySpent: true,
    });
    await t.throwsAsync(seenBy(linus.console, first), { message: /No API key has this ID/ });
  });
}

test("a key without budgets in the environment shows no shared spending", async (t) => {
  const gateway = await startPriced(t, {});
  const grace = await addPerson(gateway, "grace@example.com");
  const { id, value } = await keyOf(gateway, grace.id);
  t.is((await spendCent(gateway, value)).status, 200);
  const { sharedBudgets } = await grace.console.keys.usage.query({ id });
  t.deepEqual(sharedBudgets, { person: [], gateway: [], isGatewaySpent: false });
});

test("the console receives the configured public URL and the version", async (t) => {
  const plain = await startTestGateway(t);
  const { publicUrl, version } = await plain.admin.gateway.info.query();
  t.is(publicUrl, null);
  t.regex(version, /^\d+\.\d+\.\d+/);

  const configured = await startTestGateway(t, { environment: { PUBLIC_URL: "https://ai.example.com/" } });
  t.is((await configured.admin.gateway.info.query()).publicUrl, "https://ai.example.com");
});

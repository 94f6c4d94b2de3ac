import test from "ava";
import { addPerson } from "../helpers/call-procedure.ts";
import { keyOf, spendCent, startPriced } from "../helpers/priced-gateway.ts";
import { databaseKinds } from "../helpers/test-database.ts";

const now = Date.UTC(2027, 0, 30, 12);
const tomorrow = "2027-01-31T00:00:00.000Z";
const nextMonth = "2027-02-01T00:00:00.000Z";

for (const kind of databaseKinds) {
  test(`${kind}: a key shows its owner's spending, and to administrators the gateway's`, async (t) => {
    const environment = {
      PERSON_BUDGET_USD_PER_DAY_MAX: "0.02",
      GATEWAY_BUDGET_USD_PER_MONTH_MAX: "0.03",
      // Only reads refresh the spending.
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

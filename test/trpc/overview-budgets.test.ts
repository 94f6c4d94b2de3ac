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
      // Only reads refresh the spending.
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

import test from "ava";
import { Spending } from "../../gateway/limits/budgets/spending.ts";
import { spendCent, startPriced } from "../helpers/priced-gateway.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

for (const kind of databaseKinds) {
  test(`${kind}: an idle process learns what others spent of budgets`, async (t) => {
    for (const variable of ["", "GATEWAY_BUDGET_USD_PER_DAY_MAX"]) {
      let now = Date.UTC(2027, 0, 15, 12);
      const runtime = { now: () => now };
      // The test refreshes the budgets itself.
      const environment = { BUDGET_REFRESH_INTERVAL_MS: "100000", ...(variable && { [variable]: "0.02" }) };
      const one = await startPriced(t, environment, { kind, runtime });
      const DATABASE_URL = one.environment["DATABASE_URL"] ?? "";
      const other = await startTestGateway(t, { environment: { ...environment, DATABASE_URL }, runtime });
      const { value } = await one.admin.keys.create.mutate({
        name: "Own",
        models: ["demo/echo"],
        limits: { budgetsUsd: { day: variable ? 1 : 0.02 } },
      });
      t.is((await spendCent(other, value)).status, 200);
      await other.services.recorder.flush();
      for (let second = 0; second < 100; second += 10) {
        now += 10_000;
        await other.services.budgets.refresh();
      }

      t.is((await spendCent(one, value)).status, 200);
      await one.services.recorder.flush();
      now += 11_000;
      await other.services.budgets.refresh();
      const burst = await Promise.all(Array.from({ length: 5 }, () => spendCent(other, value)));
      t.deepEqual(
        burst.map(({ status }) => status),
        [402, 402, 402, 402, 402],
      );
    }
  });
}

test("idle keys are read ever less often, at least once a minute, in small batches", async (t) => {
  let now = Date.UTC(2027, 0, 15, 12);
  const readAt = new Map<string, number[]>();
  let readTogetherMax = 0;
  const spending = new Spending({
    now: () => now,
    readCosts: async (ids) => {
      for (const id of ids) readAt.set(id, [...(readAt.get(id) ?? []), now]);
      return [];
    },
    readUndisturbed: (read) => read(),
  });
  const ids = Array.from({ length: 1_000 }, (_, index) => `key_${index}`);
  await spending.load(ids);
  await spending.refresh();
  const seconds = 3_600;
  for (let second = 0; second < seconds; second++) {
    now += 1_000;
    const busy = spending.ledgerOf("key_0");
    if (busy) busy.isInUse = true;
    const before = countReads(readAt);
    await spending.refresh();
    readTogetherMax = Math.max(readTogetherMax, countReads(readAt) - before);
  }
  t.is(readAt.get("key_0")?.length, seconds + 2);
  t.true(readTogetherMax <= 201, `${readTogetherMax}`);
  for (const id of ids.slice(1)) {
    const times = [...(readAt.get(id) ?? []), now];
    const longestMs = Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? 0)));
    t.true(longestMs <= 61_000, `${id} ${longestMs}`);
    t.true(times.length < 150, `${id} ${times.length}`);
  }
});

function countReads(readAt: ReadonlyMap<string, readonly number[]>): number {
  let count = 0;
  for (const times of readAt.values()) count += times.length;
  return count;
}

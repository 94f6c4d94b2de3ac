import test from "ava";
import type { UsageRecordRow } from "../../db/entities/usage-record.ts";
import { createId } from "../../gateway/ids.ts";
import { systemRuntime } from "../../gateway/runtime.ts";
import { createLog } from "../../gateway/log.ts";
import { percentileMs } from "../../gateway/usage/history/usage-overview.ts";
import { askHistory } from "../helpers/ask-history.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { usageRow } from "../helpers/open-test-database.ts";
import { allDatabaseKinds } from "../helpers/test-database.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

const { randomBytes } = systemRuntime(createLog("silent", { write: () => {} }));
const hourMs = 3_600_000;

for (const kind of allDatabaseKinds) {
  test(`${kind}: the overview compares the last 24 hours with those of the day before`, async (t) => {
    const now = Math.floor(Date.now() / hourMs) * hourMs + 1_234_567;
    const gateway = await startTestGateway(t, { kind, runtime: { now: () => now } });
    const member = await addPerson(gateway, "member@example.com");
    const hour = Math.floor(now / hourMs) * hourMs;
    const record = (createdAt: number, more: Partial<UsageRecordRow> = {}) =>
      usageRow(createId("req", { now: () => createdAt, randomBytes }), {
        createdAt: new Date(createdAt),
        ...more,
      });
    const records = [
      record(hour, { cost: 2_000_000_000, latencyMs: 100, ownerId: member.id }),
      record(hour - 1, { cost: 500_000_000, latencyMs: 300 }),
      record(hour - 1, { status: "FAILED", latencyMs: 60_000, ownerId: member.id }),
      record(hour - 1, { status: "CANCELLED", cost: 0, latencyMs: 60_000 }),
      record(hour - 23 * hourMs, { cost: 1, latencyMs: 3_000 }),
      // The comparison period is the same 24 hours one day earlier.
      record(hour - 24 * hourMs - 1, { status: "INTERRUPTED" }),
      record(hour - 47 * hourMs, { cost: 7 }),
      record(hour - 47 * hourMs - 1, { cost: 1_000_000 }),
    ];
    await gateway.services.database.write(({ usageRecords }) => usageRecords.insertAll(records));

    const all = await gateway.admin.overview.get.query();
    t.is(all.intervals.length, 24);
    t.is(new Date(all.intervals[0]?.startsAt ?? 0).getTime(), hour - 23 * hourMs);
    t.deepEqual(
      all.intervals.map(({ requests }) => requests),
      [1, ...Array.from({ length: 21 }, () => 0), 3, 1],
    );
    t.like(all.intervals[22], {
      requests: 3,
      errors: 1,
      costUsd: 0.5,
      unknownCosts: 1,
      averageLatencyMs: 300,
    });
    t.like(all.intervals[5], {
      requests: 0,
      errors: 0,
      costUsd: 0,
      averageLatencyMs: null,
      p95LatencyMs: null,
    });
    t.like(all.total, {
      requests: 5,
      errors: 1,
      costUsd: 2.500000001,
      unknownCosts: 1,
      averageLatencyMs: 1_133,
    });
    t.like(all.before, { requests: 2, errors: 1, costUsd: 0.000000007, unknownCosts: 1 });

    const own = await member.console.overview.get.query();
    t.like(own.total, { requests: 2, errors: 1, costUsd: 2, averageLatencyMs: 100 });
    t.like(own.before, { requests: 0, errors: 0, costUsd: 0 });
  });
}

for (const kind of allDatabaseKinds) {
  test(`${kind}: the forecast adds the average of the last week for the rest of the month`, async (t) => {
    const now = Date.UTC(2027, 10, 21);
    const gateway = await startTestGateway(t, { kind, runtime: { now: () => now } });
    const member = await addPerson(gateway, "member@example.com");
    const record = (daysAgo: number, dollars: number, more: Partial<UsageRecordRow> = {}) => {
      const createdAt = now - daysAgo * 24 * hourMs;
      return usageRow(createId("req", { now: () => createdAt, randomBytes }), {
        createdAt: new Date(createdAt),
        cost: dollars * 1e9,
        ...more,
      });
    };
    const records = [
      record(0, 1, { ownerId: member.id, model: "house/small" }),
      record(2, 6, { apiKeyId: "key_two", model: "house/large" }),
      record(2, 0, { cost: null, status: "FAILED", errorReason: "http_503" }),
      record(3, 0, { cost: null, status: "INTERRUPTED", errorReason: "shutdown" }),
      record(15, 100),
      record(22, 40),
      record(52, 7),
    ];
    await gateway.services.database.write(({ usageRecords }) => usageRecords.insertAll(records));

    const spending = await gateway.admin.overview.spending.query();
    t.like(spending, { monthToDateUsd: 107, lastMonthUsd: 40, dailyAverageUsd: 7 / 3, averagedDays: 3 });
    t.is(spending.unknownCosts, 2);
    t.is(spending.forecastUsd.toFixed(6), (107 + (7 / 3) * 10).toFixed(6));
    t.is((await member.console.overview.spending.query()).monthToDateUsd, 1);

    const top = await gateway.admin.overview.top.query({ period: "7d" });
    t.like(top.keys[0], { id: "key_two", requests: 1, costUsd: 6 });
    t.deepEqual(
      top.models.map(({ name }) => name),
      ["house/large", "house/small", records[2]?.model ?? ""],
    );
    t.is(top.models[2]?.costUsd, null);
    t.like(top.people[0], { id: "", requests: 3, costUsd: 6 });
    t.like(top.people[1], { id: member.id, requests: 1, costUsd: 1 });
    t.deepEqual(top.errors.map(({ reason, requests }) => `${reason} ${requests}`).toSorted(), [
      "http_503 1",
      "shutdown 1",
    ]);
    const own = await member.console.overview.top.query({ period: "30d" });
    t.is(own.keys.length, 1);
    t.deepEqual(own.people, []);
    t.is((await gateway.admin.overview.get.query({ period: "30d" })).total.costUsd, 147);
    t.is((await gateway.admin.overview.get.query({ period: "7d" })).intervals.length, 7);
  });
}

test("a percentile is computed from counts in ranges", (t) => {
  t.is(percentileMs([0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 0.95), null);
  t.is(percentileMs([100, 0, 0, 0, 0, 0, 0, 0, 0, 0], 0.95), 238);
  t.is(percentileMs([90, 10, 0, 0, 0, 0, 0, 0, 0, 0], 0.95), 375);
  t.is(percentileMs([90, 0, 0, 0, 10, 0, 0, 0, 0, 0], 0.95), 3_000);
  t.is(percentileMs([0, 0, 0, 0, 0, 0, 0, 0, 0, 20], 0.95), 64_000);
});

test("a percentile is null for too few requests", (t) => {
  t.is(percentileMs([1, 0, 0, 0, 0, 0, 0, 0, 0, 0], 0.95), null);
  t.is(percentileMs([18, 0, 0, 0, 0, 0, 0, 0, 0, 1], 0.95), null);
  t.is(percentileMs([20, 0, 0, 0, 0, 0, 0, 0, 0, 0], 0.95), 238);
});

test("a query receives percentiles through an alias and through a fragment", async (t) => {
  const gateway = await startTestGateway(t);
  const now = Date.now();
  const records = Array.from({ length: 30 }, () =>
    usageRow(createId("req", { now: () => now, randomBytes }), {
      createdAt: new Date(now - hourMs),
      latencyMs: 3_000,
    }),
  );
  await gateway.services.database.write(({ usageRecords }) => usageRecords.insertAll(records));
  const ask = async (query: string) => (await askHistory(gateway, gateway.accessToken, query)).data;
  const direct = await ask("{ usageSummary(groupBy: []) { slow: p95DurationMs } }");
  const spread = await ask(
    "{ usageSummary(groupBy: []) { ...Times } } fragment Times on UsageSummaryRow { slow: p95DurationMs }",
  );
  t.deepEqual(direct, { usageSummary: [{ slow: 3_900 }] });
  t.deepEqual(spread, direct);
});

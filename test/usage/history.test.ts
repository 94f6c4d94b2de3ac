import test from "ava";
import type { UsageRecordRow } from "../../db/entities/usage-record.ts";
import type { Person } from "../../gateway/auth/person.ts";
import {
  type OwnedRecord,
  type UsageCriteria,
  UsageHistory,
} from "../../gateway/usage/history/usage-history.ts";
import { assertRollUpsMatch } from "../helpers/assert-roll-ups-match.ts";
import { hangMs } from "../helpers/eventually.ts";
import { usageRow, userRow } from "../helpers/open-test-database.ts";
import { isFull } from "../helpers/scale.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { allDatabaseKinds } from "../helpers/test-database.ts";
import { groupings, sumUp, total } from "../helpers/sum-up-usage.ts";
import { addUsage, admin } from "../helpers/usage-fixture.ts";
import { createId } from "../../gateway/ids.ts";
import { systemRuntime } from "../../gateway/runtime.ts";
import { createLog } from "../../gateway/log.ts";
import { percentileMs } from "../../gateway/usage/history/usage-overview.ts";
import { askHistory } from "../helpers/ask-history.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";
import { parseMoment } from "../../gateway/usage/history/parse-moment.ts";

const member: Person = { ...admin, id: "usr_00000000000000000000000001", role: "member" };
const from = new Date("2026-10-30T10:20:30.400Z");
const to = new Date("2026-11-02T15:10:05.006Z");

for (const kind of allDatabaseKinds) {
  const shared = shareGateway({ kind });
  let records: OwnedRecord[];

  test.serial.before(`a history on ${kind}`, async () => {
    // Bob is the only owner that exists. All other owners count as deleted users.
    await shared().services.database.write(({ users }) => users.insert(userRow(member.id, { name: "Bob" })));
    records = (await addUsage(shared(), 2_000, { from, to })).map((record) => ({
      ...record,
      ownerName: record.ownerId === member.id ? "Bob" : null,
      teamName: null,
    }));
  });

  const history = () => shared().services.usageHistory;

  /** Reference implementation of the filter. */
  const expected = (person: Person, criteria: UsageCriteria) =>
    records.filter(
      (record) =>
        (person.role === "admin" || record.ownerId === person.id) &&
        (criteria.apiKeyId === undefined || record.apiKeyId === criteria.apiKeyId) &&
        (criteria.model === undefined || record.model === criteria.model) &&
        (criteria.provider === undefined || record.provider === criteria.provider) &&
        (criteria.status === undefined || record.status === criteria.status) &&
        (criteria.statuses?.includes(record.status) ?? true) &&
        (criteria.ownerId === undefined || (record.ownerId ?? "") === criteria.ownerId) &&
        (criteria.clientTool === undefined || (record.clientTool ?? "") === criteria.clientTool) &&
        (criteria.errorReason === undefined || (record.errorReason ?? "") === criteria.errorReason) &&
        (criteria.minLatencyMs === undefined || record.latencyMs >= criteria.minLatencyMs) &&
        (criteria.httpStatusClass === undefined ||
          Math.floor(record.httpStatus / 100) === criteria.httpStatusClass) &&
        (criteria.from === undefined || record.createdAt >= criteria.from) &&
        (criteria.to === undefined || record.createdAt < criteria.to),
    );

  const wishes = (): [Person, UsageCriteria][] => {
    const random = seededRandom(7);
    const pick = <Name extends keyof UsageRecordRow>(name: Name) =>
      records[random.upTo(records.length - 1)]?.[name];
    const moment = () => new Date(from.getTime() + random.upTo(to.getTime() - from.getTime()));
    return Array.from({ length: isFull ? 60 : 20 }, () => {
      const [one, other] = [moment(), moment()].toSorted((a, b) => a.getTime() - b.getTime());
      const criteria: UsageCriteria = {
        ...(random.chance(0.3) && { apiKeyId: pick("apiKeyId") }),
        ...(random.chance(0.3) && { model: pick("model") }),
        ...(random.chance(0.2) && { provider: pick("provider") }),
        ...(random.chance(0.3) && { status: pick("status") }),
        ...(random.chance(0.2) && { statuses: ["FAILED", "INTERRUPTED"] }),
        ...(random.chance(0.2) && { ownerId: pick("ownerId") ?? "" }),
        ...(random.chance(0.2) && { clientTool: pick("clientTool") ?? "" }),
        ...(random.chance(0.2) && { errorReason: pick("errorReason") ?? "" }),
        ...(random.chance(0.5) && { from: one }),
        ...(random.chance(0.5) && {
          to: random.chance(0.2) && one ? new Date(one.getTime() + 1_000_000) : other,
        }),
      };
      return [random.chance(0.3) ? member : admin, criteria];
    });
  };

  test(`${kind}: pages return every match of the filter once, newest first`, async (t) => {
    t.is(records.length, 2_000);
    const random = seededRandom(8);
    for (const [person, most] of wishes()) {
      const criteria = {
        ...most,
        ...(random.chance(0.3) && { minLatencyMs: random.upTo(70_000) }),
        ...(random.chance(0.3) && { httpStatusClass: random.pick([2, 5]) }),
      };
      const seen: OwnedRecord[] = [];
      for (let after: string | undefined; ;) {
        const page = await history().list(person, criteria, { first: 70, after });
        seen.push(...page.records);
        after = page.records.at(-1)?.id;
        if (!page.hasMore) break;
        t.is(page.records.length, 70);
      }
      t.deepEqual(seen, expected(person, criteria), JSON.stringify(criteria));
    }
  });

  test(`${kind}: sums equal those of the paged records, to the millisecond`, async (t) => {
    for (const [row, [person, criteria]] of wishes().entries()) {
      for (const [place, interval] of ([null, "hour", "day", "month"] as const).entries()) {
        // Below full scale, each filter and interval is tested with a third of the groupings.
        for (const groupBy of groupings.filter((_, index) => isFull || (row + place + index) % 3 === 0)) {
          const rows = await history().summarize(person, criteria, { groupBy, interval });
          const shown = rows
            .map(({ startsAt, requests, inputTokens, cost, markup, unknownCosts, outcomes, ...row }) => [
              [startsAt?.toISOString(), ...groupBy.map((name) => row[name])].join(),
              [
                [requests, inputTokens, cost, markup, unknownCosts],
                [outcomes.SUCCEEDED, outcomes.FAILED],
                [total(row.durations), total(row.firstTokens)],
              ].join(),
            ])
            .toSorted();
          const wanted = sumUp(expected(person, criteria), groupBy, interval);
          t.deepEqual(shown, wanted, JSON.stringify({ criteria, interval, groupBy }));
        }
      }
    }
  });

  test(`${kind}: an empty or inverted period contains nothing`, async (t) => {
    const moment = records[1_000]?.createdAt;
    for (const criteria of [
      { from: to, to: from },
      { from: moment, to: moment },
    ]) {
      t.deepEqual(await history().list(admin, criteria, { first: 5 }), { records: [], hasMore: false });
      t.deepEqual(await history().summarize(admin, criteria, { groupBy: ["model"], interval: "day" }), []);
      const rows = await history().summarize(admin, criteria, { groupBy: [], interval: null });
      t.is(rows.length, 1);
      t.like(rows[0], { requests: 0, inputTokens: 0n, cost: 0n });
    }
  });

  test(`${kind}: the key without an id is a group of its own, in sums and in pages`, async (t) => {
    for (const person of [admin, member]) {
      for (const criteria of [{ apiKeyId: "" }, { apiKeyId: "", status: "SUCCEEDED", from, to }] as const) {
        t.deepEqual((await history().list(person, criteria, { first: 5 })).records, []);
        const [sum] = await history().summarize(person, criteria, { groupBy: [], interval: null });
        t.is(sum?.requests, 0);
        t.deepEqual(
          await history().summarize(person, criteria, { groupBy: ["apiKeyId"], interval: "day" }),
          [],
        );
      }
    }
  });

  test(`${kind}: sums equal those of the pages at the extreme dates of a filter`, async (t) => {
    const moments = [
      "-000001-12-31T14:00Z",
      "9999-12-31T00:00:01Z",
      "9999-12-31T23:30Z",
      "+010000-01-01T23:58Z",
    ];
    const edges = moments.flatMap((text) => [{ from: new Date(text) }, { to: new Date(text) }]);
    const { model } = records[0] ?? t.fail();
    for (const criteria of edges) {
      for (const more of [{}, { model, status: "SUCCEEDED" }] as const) {
        const filter = { ...criteria, ...more };
        const count = expected(admin, filter).length;
        const page = await history().list(admin, filter, { first: 1 });
        const [sum] = await history().summarize(admin, filter, { groupBy: [], interval: null });
        t.is(page.records.length, Math.min(count, 1), JSON.stringify(filter));
        t.is(sum?.requests, count, JSON.stringify(filter));
      }
    }
  });

  test(`${kind}: any well-formed cursor returns the correct page`, async (t) => {
    const { model } = records[0] ?? t.fail();
    for (const criteria of [{}, { model }, { model, status: "SUCCEEDED" }] as const) {
      const newest = await history().list(admin, criteria, { first: 5, after: `req_${"z".repeat(26)}` });
      t.deepEqual(newest.records, expected(admin, criteria).slice(0, 5));
      const none = await history().list(admin, criteria, { first: 5, after: `req_${"0".repeat(26)}` });
      t.deepEqual(none.records, []);
    }
  });

  test(`${kind}: a record is visible only to its owner and to administrators`, async (t) => {
    const own = records.find(({ ownerId }) => ownerId === member.id);
    const foreign = records.find(({ ownerId }) => ownerId !== member.id);
    if (!own || !foreign) return t.fail();
    t.deepEqual({ ...(await history().get(member, own.id)) }, own);
    t.is(await history().get(member, foreign.id), null);
    t.deepEqual({ ...(await history().get(admin, foreign.id)) }, foreign);
    t.is(await history().get(admin, "req_00000000000000000000000000"), null);
  });

  test(`${kind}: a summary with too many rows is rejected, not truncated`, async (t) => {
    const { usageHistory } = shared().services;
    const limits = { usageQueryTimeoutMs: hangMs, usageSummaryRowsMax: 3 };
    const strict = new UsageHistory({ database: shared().services.database, limits });
    t.is((await usageHistory.summarize(admin, {}, { groupBy: ["provider"], interval: null })).length, 3);
    t.is((await strict.summarize(admin, {}, { groupBy: ["provider"], interval: null })).length, 3);
    await t.throwsAsync(strict.summarize(admin, {}, { groupBy: ["model"], interval: null }), {
      message: /more than 3 rows/,
    });
  });

  test.after(`conservation on ${kind}`, async () => {
    await assertRollUpsMatch(shared().environment["DATABASE_URL"] ?? "");
  });
}

const { randomBytes } = systemRuntime(createLog("silent", { write: () => {} }));
const hourMs = 3_600_000;

function recordAt(createdAt: number, more: Partial<UsageRecordRow> = {}): UsageRecordRow {
  const id = createId("req", { now: () => createdAt, randomBytes });
  return usageRow(id, { createdAt: new Date(createdAt), ...more });
}

for (const kind of allDatabaseKinds) {
  test(`${kind}: the overview compares the last 24 hours with those of the day before`, async (t) => {
    const now = Math.floor(Date.now() / hourMs) * hourMs + 1_234_567;
    const gateway = await startTestGateway(t, { kind, runtime: { now: () => now } });
    const member = await addPerson(gateway, "member@example.com");
    const hour = Math.floor(now / hourMs) * hourMs;
    const records = [
      recordAt(hour, { cost: 2_000_000_000, latencyMs: 100, ownerId: member.id }),
      recordAt(hour - 1, { cost: 500_000_000, latencyMs: 300 }),
      recordAt(hour - 1, { status: "FAILED", latencyMs: 60_000, ownerId: member.id }),
      recordAt(hour - 1, { status: "CANCELLED", cost: 0, latencyMs: 60_000 }),
      recordAt(hour - 23 * hourMs, { cost: 1, latencyMs: 3_000 }),
      // The comparison period is the same 24 hours one day earlier.
      recordAt(hour - 24 * hourMs - 1, { status: "INTERRUPTED" }),
      recordAt(now - 24 * hourMs + 1, { cost: 9 }),
      recordAt(hour - 47 * hourMs, { cost: 7 }),
      recordAt(hour - 47 * hourMs - 1, { cost: 1_000_000 }),
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
    const record = (daysAgo: number, dollars: number, more: Partial<UsageRecordRow> = {}) =>
      recordAt(now - daysAgo * 24 * hourMs, { cost: dollars * 1e9, ...more });
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
  const createdAt = Date.now() - hourMs;
  const records = Array.from({ length: 30 }, () => recordAt(createdAt, { latencyMs: 3_000 }));
  await gateway.services.database.write(({ usageRecords }) => usageRecords.insertAll(records));
  const ask = async (query: string) => (await askHistory(gateway, gateway.accessToken, query)).data;
  const direct = await ask("{ usageSummary(groupBy: []) { slow: p95DurationMs } }");
  const spread = await ask(
    "{ usageSummary(groupBy: []) { ...Times } } fragment Times on UsageSummaryRow { slow: p95DurationMs }",
  );
  t.deepEqual(direct, { usageSummary: [{ slow: 3_900 }] });
  t.deepEqual(spread, direct);
});

for (const [text, moment] of [
  ["2026-11-01", "2026-11-01T00:00:00.000Z"],
  ["2024-02-29T23:59:59.999-12:00", "2024-03-01T11:59:59.999Z"],
  ["2026-02-29", null],
  ["2026-02-29T12:00:00+10:00", null],
  ["2026-04-31T00:00:00Z", null],
  ["2026-13-01", null],
] as const) {
  test(`${text} is ${moment ?? "an invalid timestamp"}`, (t) =>
    t.is(parseMoment(text)?.toISOString() ?? null, moment));
}

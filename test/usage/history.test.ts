import test from "ava";
import type { UsageRecordRow } from "../../db/entities/usage-record.ts";
import type { Person } from "../../gateway/auth/person.ts";
import {
  type OwnedRecord,
  UsageHistory,
  type UsageCriteria,
} from "../../gateway/usage/history/usage-history.ts";
import { assertRollUpsMatch } from "../helpers/assert-roll-ups-match.ts";
import { userRow } from "../helpers/open-test-database.ts";
import { isFull } from "../helpers/scale.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { allDatabaseKinds } from "../helpers/test-database.ts";
import { groupings, sumUp, total } from "../helpers/sum-up-usage.ts";
import { addUsage, admin } from "../helpers/usage-fixture.ts";

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
        // Below full scale, each filter and interval is tested with half of the groupings.
        for (const groupBy of groupings.filter((_, index) => isFull || (row + place + index) % 2 === 0)) {
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
    const limits = { usageQueryTimeoutMs: 5_000, usageSummaryRowsMax: 3 };
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

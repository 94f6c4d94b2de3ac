import test from "ava";
import type { UsageRecordRow } from "../../db/entities/usage-record.ts";
import { openTestDatabase, usageRow, userRow } from "../helpers/open-test-database.ts";
import { allDatabaseKinds } from "../helpers/test-database.ts";

for (const kind of allDatabaseKinds) {
  test(`${kind}: a reader of a change has seen all earlier ones under concurrent writes`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const writers = 40;
    let writing = writers;
    const write = async (index: number) => {
      await database
        .write(async ({ changes, users }) => {
          // The reads make the writers append their changes at different times.
          for (let step = 0; step < index % 4; step++) await users.count();
          await changes.append("api_key", `key_${index}`, new Date());
          await users.insert(userRow(`usr_${index}`));
          if (index % 5 === 0) throw new Error("changed my mind");
        })
        .catch(() => {});
      writing--;
    };
    const written = Promise.all(Array.from({ length: writers }, (_, index) => write(index)));

    const seen: string[] = [];
    let last = 0;
    for (let isLastRound = false; !isLastRound;) {
      isLastRound = writing === 0;
      for (const { number, entityId } of await database.read(({ changes }) => changes.after(last, 7))) {
        t.is(number, last + 1, "a number was skipped: it became visible after its successor");
        last = number;
        seen.push(entityId);
        isLastRound = false;
      }
    }
    await written;

    const expected = Array.from({ length: writers }, (_, index) => `key_${index}`);
    t.deepEqual(seen.toSorted(), expected.filter((_, index) => index % 5 !== 0).toSorted());
    t.is(await database.read(({ changes }) => changes.latestNumber()), 32);
  });

  test(`${kind}: expired changes are deleted, and the numbering continues`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const append = (id: string, time: string) =>
      database.write(({ changes }) => changes.append("catalogue", id, new Date(time)));
    await append("mdl_1", "2026-01-01T00:00:00.000Z");
    await append("mdl_2", "2026-01-01T01:00:00.000Z");

    await database.write(({ changes }) => changes.deleteBefore(new Date("2026-01-01T01:00:00.000Z")));
    await append("mdl_3", "2026-01-01T02:00:00.000Z");

    const rows = await database.read(({ changes }) => changes.after(0, 10));
    t.deepEqual(
      rows.map(({ number, entityId }) => [number, entityId]),
      [
        [2, "mdl_2"],
        [3, "mdl_3"],
      ],
    );
  });
}

const noon = Date.UTC(2026, 10, 21, 12);
const minuteMs = 60_000;

let count = 0;
function record(minutes: number, more: Partial<UsageRecordRow> = {}): UsageRecordRow {
  const id = `req_${String(count++).padStart(26, "0")}`;
  const createdAt = new Date(noon + minutes * minuteMs);
  return usageRow(id, { createdAt, provider: "house", latencyMs: 300, ...more });
}

for (const kind of allDatabaseKinds) {
  test(`${kind}: records are summed by provider and half-hour, once each`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const records = [
      record(0),
      record(29, { latencyMs: 5_000 }),
      record(30),
      record(1, { status: "FAILED", httpStatus: 429 }),
      record(1, { status: "FAILED", httpStatus: 400 }),
      record(1, { status: "CANCELLED" }),
      record(1, { provider: "other" }),
      record(1, { provider: "" }),
    ];
    const write = (rows: UsageRecordRow[]) =>
      database.write(({ usageRecords }) => usageRecords.insertAll(rows));
    await write(records.slice(0, 2));
    await write(records);

    const read = (from: number, last: number) =>
      database.read(({ providerHalfHours }) =>
        providerHalfHours.list(new Date(noon + from * minuteMs), new Date(noon + last * minuteMs)),
      );
    const [first, second, third, ...rest] = await read(0, 30);
    t.deepEqual(rest, []);
    t.like(first, { provider: "house", requests: 5, failures: 1, successes: 2, latencyMs: 5_300 });
    t.like(first, { startsAt: new Date(noon), latency1: 1, latency5: 1 });
    t.like(second, { provider: "other", requests: 1, failures: 0, successes: 1 });
    t.like(third, { startsAt: new Date(noon + 30 * minuteMs), provider: "house", requests: 1 });
    t.is((await read(30, 30)).length, 1);

    await database.write(({ providerHalfHours }) =>
      providerHalfHours.deleteBefore(new Date(noon + 30 * minuteMs)),
    );
    t.is((await read(0, 60)).length, 1);
  });

  test(`${kind}: a batch of records can cover any number of half-hours`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const records = Array.from({ length: 2_500 }, (_, index) => record(-30 * index));
    await database.write(({ usageRecords }) => usageRecords.insertAll(records));
    const rows = await database.read(({ providerHalfHours }) =>
      providerHalfHours.list(new Date(0), new Date(noon)),
    );
    t.is(rows.length, records.length);
    t.true(rows.every(({ requests }) => requests === 1));
  });
}

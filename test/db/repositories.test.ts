import test, { type ExecutionContext } from "ava";
import { hangMs } from "../helpers/eventually.ts";
import type { UsageRecordRow } from "../../db/entities/usage-record.ts";
import { openDatabaseAt, openTestDatabase, usageRow, userRow } from "../helpers/open-test-database.ts";
import {
  allDatabaseKinds,
  createMigratedDatabase,
  createTestDatabase,
  type DatabaseKind,
} from "../helpers/test-database.ts";
import { assertRollUpsMatch } from "../helpers/assert-roll-ups-match.ts";
import { randomUsage } from "../helpers/random-usage.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { openDataSource } from "../../db/data-source.ts";
import { migrate } from "../../db/migrate.ts";

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
    const left = rows.map(({ number, entityId }) => [number, entityId]);
    t.deepEqual(left, [
      [2, "mdl_2"],
      [3, "mdl_3"],
    ]);
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

const world = { keys: 5, models: 4, providers: 2, owners: 3 };

for (const kind of allDatabaseKinds) {
  test(`${kind}: roll-ups equal the sums of records under any batching and overlap`, async (t) => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    t.log({ seed });
    const random = seededRandom(seed);
    const url = await createMigratedDatabase(t, kind);
    // SQLite supports one writer at a time.
    const databases = [await openDatabaseAt(t, url)];
    if (kind !== "sqlite") for (let more = 0; more < 3; more++) databases.push(await openDatabaseAt(t, url));

    const moments: [string, ...string[]] = [
      "2026-10-31T23:59:59.999Z",
      "2026-11-01T00:00:00.000Z",
      "2026-11-01T00:59:00.500Z",
    ];
    const records = Array.from({ length: 3_000 }, () => {
      const moment = random.chance(0.3)
        ? new Date(random.pick(moments)).getTime()
        : Date.UTC(2026, 9, 28) + random.upTo(5 * 86_400_000);
      return randomUsage(random, new Date(moment), world);
    });
    const batches: UsageRecordRow[][] = [];
    for (let from = 0; from < records.length;) {
      const size = random.pick([1, 2, 20, 400, 1_500]);
      const start = Math.max(0, from - (random.chance(0.5) ? random.upTo(size) : 0));
      const batch = records.slice(start, from + size);
      batches.push(batch);
      if (random.chance(0.3)) batches.push(batch);
      if (random.chance(0.2)) batches.push([...batch, ...batch].reverse());
      from += size;
    }
    await Promise.all(
      batches.map((batch, index) =>
        databases[index % databases.length]?.write(({ usageRecords }) => usageRecords.insertAll(batch)),
      ),
    );

    t.is(await assertRollUpsMatch(url), records.length);
  });

  test(`${kind}: a rolled back batch counts nowhere and does not affect the next`, async (t) => {
    const url = await createMigratedDatabase(t, kind);
    const database = await openDatabaseAt(t, url);

    const undone = database.write(async ({ usageRecords }) => {
      await usageRecords.insertAll([usageRow("req_1"), usageRow("req_2")]);
      throw new Error("changed my mind");
    });
    await t.throwsAsync(undone, { message: "changed my mind" });
    t.is(await assertRollUpsMatch(url), 0);

    await database.write(({ usageRecords }) =>
      usageRecords.insertAll([usageRow("req_2"), usageRow("req_3")]),
    );
    t.is(await assertRollUpsMatch(url), 2);
  });
}

async function openEmptyDataSource(t: ExecutionContext, kind: DatabaseKind) {
  return openDataSourceAt(t, await createTestDatabase(t, kind));
}

async function openDataSourceAt(t: ExecutionContext, url: string) {
  const dataSource = await openDataSource(url, { connectionsMax: 4, connectTimeoutMs: hangMs });
  t.teardown(() => dataSource.destroy());
  return dataSource;
}

type OpenDataSource = Awaited<ReturnType<typeof openEmptyDataSource>>;

/** Returns the SQL that TypeORM would run to adapt the schema to the entities. */
async function drift(dataSource: OpenDataSource): Promise<string[]> {
  const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
  return upQueries.map(({ query }) => query);
}

/** Omits the `migrations` table and SQLite's internal tables. */
async function tableNames(dataSource: OpenDataSource): Promise<string[]> {
  const isSqlite = dataSource.options.type === "better-sqlite3";
  const rows: { name: string }[] = await dataSource.query(
    isSqlite
      ? "SELECT name FROM sqlite_master WHERE type = 'table'"
      : "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()",
  );
  return rows.map(({ name }) => name).filter((name) => name !== "migrations" && !name.startsWith("sqlite_"));
}

for (const kind of allDatabaseKinds) {
  test(`${kind}: the migrations create the schema of the entities`, async (t) => {
    const dataSource = await openEmptyDataSource(t, kind);
    await migrate(dataSource);

    t.deepEqual(await drift(dataSource), []);
    t.deepEqual(
      (await tableNames(dataSource)).toSorted(),
      dataSource.entityMetadatas.map(({ tableName }) => tableName).toSorted(),
    );
  });

  test(`${kind}: the schema that other tests copy is the schema of the entities`, async (t) => {
    const dataSource = await openDataSourceAt(t, await createMigratedDatabase(t, kind));

    t.deepEqual(await drift(dataSource), []);
    t.is((await tableNames(dataSource)).length, dataSource.entityMetadatas.length);
    t.deepEqual(await migrate(dataSource), [], "no migration is pending");
  });

  test(`${kind}: a drifted schema is detected`, async (t) => {
    const dataSource = await openEmptyDataSource(t, kind);
    await migrate(dataSource);
    await dataSource.query(`DROP INDEX changes_time${kind === "sqlite" ? "" : " ON changes"}`);

    t.is((await drift(dataSource)).length, 1);
  });

  test(`${kind}: every migration can be reverted and run again`, async (t) => {
    const dataSource = await openEmptyDataSource(t, kind);
    const ran = await migrate(dataSource);
    t.deepEqual(
      ran,
      dataSource.migrations.map(({ name }) => name),
    );

    for (const _ of ran) await dataSource.undoLastMigration({ transaction: "each" });
    t.deepEqual(await tableNames(dataSource), []);

    t.deepEqual(await migrate(dataSource), ran);
    t.deepEqual(await drift(dataSource), []);
    t.deepEqual(await migrate(dataSource), [], "a second time there is nothing to do");
  });
}

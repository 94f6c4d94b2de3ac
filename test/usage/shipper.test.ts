import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import test, { type ExecutionContext } from "ava";
import { hangMs } from "../helpers/eventually.ts";
import { Database } from "../../db/database.ts";
import { firstIdAt } from "../../gateway/ids.ts";
import { createLog } from "../../gateway/log.ts";
import { systemRuntime } from "../../gateway/runtime.ts";
import { Retention } from "../../gateway/usage/recording/retention.ts";
import { decodeRecords, DirectWriter, Reserve, Shipper } from "../../gateway/usage/recording/shipper.ts";
import { encodeRecord, PendingRecord, type UsageRecord } from "../../gateway/usage/recording/spool.ts";
import { idsIn, openRecorder } from "../helpers/open-recorder.ts";
import { openDatabaseAt, openTestDatabase, usageRow } from "../helpers/open-test-database.ts";
import { queryDatabase } from "../helpers/query-database.ts";
import { randomUsage, usualWorld } from "../helpers/random-usage.ts";
import { recordedRequests } from "../helpers/recorded-requests.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import {
  allDatabaseKinds,
  createMigratedDatabase,
  createServerDatabase,
  serverKinds,
} from "../helpers/test-database.ts";
import { createTestFolder } from "../helpers/test-folder.ts";

test("a failed batch neither duplicates earlier ones nor loses later ones", async (t) => {
  const { url, shipper, shipped } = await openShipper(t);
  const waiting = rows(0, 25);
  // Every database rejects this date.
  waiting[17] = usageRow("req_017", { createdAt: new Date(Number.NaN) });
  t.false(await shipper.ship(waiting));
  t.deepEqual(idsOf(shipped), idsOf(rows(0, 10)));
  t.is(waiting.length, 15);

  waiting[7] = usageRow("req_017");
  waiting.push(usageRow("req_025"));
  t.true(await shipper.ship(waiting));
  t.deepEqual(idsOf(shipped), idsOf(rows(0, 26)));
  t.deepEqual(waiting, []);
  t.deepEqual(idsOf(await recordedRequests(url)).toSorted(), idsOf(rows(0, 26)));
});

test("records that arrive during a write wait for the next one", async (t) => {
  const { shipper, shipped } = await openShipper(t);
  const waiting = rows(0, 3);
  const shipping = shipper.ship(waiting);
  waiting.push(usageRow("req_003"));
  t.true(await shipping);
  t.deepEqual(idsOf(shipped), idsOf(rows(0, 3)));
  t.deepEqual(idsOf(waiting), ["req_003"]);
});

async function openShipper(t: ExecutionContext) {
  const url = await createMigratedDatabase(t, "sqlite");
  const shipped: UsageRecord[] = [];
  const shipper = new Shipper({
    database: await openDatabaseAt(t, url),
    log: createLog("error", { write: () => {} }),
    batchRecordsMax: 10,
    shipped: (records) => shipped.push(...records),
  });
  return { url, shipper, shipped };
}

function rows(from: number, before: number): UsageRecord[] {
  return Array.from({ length: before - from }, (_, index) =>
    usageRow(`req_${String(from + index).padStart(3, "0")}`),
  );
}

function idsOf(records: readonly { id: string }[]): string[] {
  return records.map(({ id }) => id);
}

test("a newer release's records are read despite extra fields", async (t) => {
  const newer = { ...usageRow("req_1", { limitedBy: "gateway" }), ofTomorrow: "who knows" };
  const buffer = Buffer.alloc(4096);
  const { records, tornBytes } = decodeRecords(buffer.subarray(0, encodeRecord(buffer, newer)));
  t.is(tornBytes, 0);

  const database = await openTestDatabase(t, "sqlite");
  await database.write(({ usageRecords }) => usageRecords.insertAll(records));
  const rows = await database.read(({ usageRecords }) => usageRecords.listByKey("key_1", 10));
  t.deepEqual(rows, [usageRow("req_1", { limitedBy: "gateway", createdAt: newer.createdAt })]);
});

test("a flush ships every record, even with concurrent readers", async (t) => {
  const database = await openTestDatabase(t, "sqlite");
  const { recorder } = await openRecorder(t, database);
  await new Promise<void>((proceed) => recorder.record(usageRow("req_1"), null, proceed));
  const flushed = recorder.flush();
  const read = recorder.readUndisturbed(async () => {});
  await flushed;
  t.deepEqual(await idsIn(database), ["req_1"]);
  await read;
});

const limits = { connectionsMax: 4, connectTimeoutMs: hangMs, operationTimeoutMs: hangMs };
const dayMs = 86_400_000;
const now = Date.UTC(2026, 10, 21, 12);

for (const kind of allDatabaseKinds) {
  test(`${kind}: old records are deleted while others are written; roll-ups all stay`, async (t) => {
    const url = await createMigratedDatabase(t, kind);
    const database = await openDatabaseAt(t, url);
    let time = now - 100 * dayMs;
    const runtime = { ...systemRuntime(createLog("silent", { write: () => {} })), now: () => time };
    const retention = new Retention({ database, runtime, retentionDays: 60 });
    t.teardown(() => retention.close());
    const random = seededRandom(3);
    const insert = async (from: number, to: number, count: number) => {
      const records = Array.from({ length: count }, () =>
        randomUsage(random, new Date(from + random.upTo(to - from - 1)), usualWorld),
      );
      await database.write(({ usageRecords }) => usageRecords.insertAll(records));
      return records.map(({ id }) => id);
    };
    const ids: string[] = [];
    for (; time < now; time += 10 * dayMs) {
      await retention.run();
      ids.push(...(await insert(time, time + 10 * dayMs, 300)));
    }
    time = now;

    const [during] = await Promise.all([insert(now - dayMs, now, 700), retention.run(), retention.run()]);

    const rows = await queryDatabase(url, "SELECT id, created_at FROM usage_records ORDER BY id");
    const left = rows.map(({ id }) => String(id));
    // MySQL and MariaDB keep a month's partition until all its days have expired.
    const oldest = kind === "sqlite" ? now - 60 * dayMs : Date.UTC(2026, 8, 1);
    const all = [...ids, ...during].toSorted();
    const kept = firstIdAt("req", oldest);
    t.deepEqual(
      left,
      all.filter((id) => id >= kept),
    );
    t.true(left.length < all.length && left.length > 1_000);
    const [sum] = await queryDatabase(
      url,
      "SELECT SUM(requests) AS requests FROM usage_roll_ups WHERE resolution = 'day' AND api_key_id = ''",
    );
    t.is(Number(sum?.["requests"]), all.length);
  });

  test(`${kind}: an unlimited retention deletes nothing`, async (t) => {
    const url = await createMigratedDatabase(t, kind);
    const database = await openDatabaseAt(t, url);
    const runtime = { ...systemRuntime(createLog("silent", { write: () => {} })), now: () => now };
    const random = seededRandom(4);
    const old = [0, 1, 2].map((years) =>
      randomUsage(random, new Date(now - years * 365 * dayMs), usualWorld),
    );
    await database.write(({ usageRecords }) => usageRecords.insertAll(old));
    const retention = new Retention({ database, runtime, retentionDays: 0 });
    t.teardown(() => retention.close());

    await retention.run();
    await retention.run();

    t.is((await queryDatabase(url, "SELECT id FROM usage_records")).length, 3);
  });
}

for (const kind of serverKinds) {
  test(`${kind}: one of several processes creates partitions before their month starts`, async (t) => {
    const url = await createServerDatabase(t, kind);
    const databases = [await Database.open(url, limits), await Database.open(url, limits)];
    t.teardown(() => Promise.all(databases.map((database) => database.close())));
    await databases[0]?.migrate();
    const runtime = { ...systemRuntime(createLog("silent", { write: () => {} })), now: () => now };
    const both = databases.map((database) => new Retention({ database, runtime, retentionDays: 0 }));
    t.teardown(() => Promise.all(both.map((each) => each.close())));

    for (let round = 0; round < 5; round++) await Promise.all(both.map((each) => each.run()));

    const rows = await queryDatabase(
      url,
      `SELECT partition_name AS name FROM information_schema.partitions
        WHERE table_schema = DATABASE() AND table_name = 'usage_records' ORDER BY partition_ordinal_position`,
    );
    t.deepEqual(
      rows.map(({ name }) => name),
      ["m2026_11", "m2026_12", "m2027_01", "m2027_02", "rest"],
    );
  });
}

const log = createLog("error", { write: () => {} });

/** A writer whose database and disk fail until a test says otherwise. */
async function openWriter(folder: string, bytesMax = 64 * 1024) {
  const works = { database: false, disk: false };
  const stored: string[] = [];
  const file = path.join(folder, "reserve.records");
  const reserve = new Reserve(file, { bytesMax, isSynced: false });
  reserve.prepare();
  const keep = (batch: readonly UsageRecord[]) => void stored.push(...batch.map(({ id }) => id));
  const write = async () => {
    if (!works.database) throw new Error("The database is away.");
  };
  const database = { write } as unknown as Database;
  const writer = new DirectWriter({
    shipper: new Shipper({ database, log, batchRecordsMax: 100, shipped: keep }),
    appendToSpool(batch) {
      if (works.disk) keep(batch);
      return works.disk;
    },
    reserve,
    onSafe: () => {},
  });
  const inFile = async () => decodeRecords(await readFile(file));
  const record = (id: string) => {
    return new Promise<void>((proceed) =>
      writer.write([new PendingRecord(usageRow(id), null, proceed, log)]),
    );
  };
  return { writer, reserve, works, stored, record, inFile };
}

for (const recovered of ["database", "disk"] as const) {
  test(`without database and disk, records wait in the reserve for the ${recovered}`, async (t) => {
    const { writer, works, stored, record, inFile } = await openWriter(await createTestFolder(t));
    t.false(writer.isStuck);
    for (const id of ["req_1", "req_2", "req_3"]) {
      await record(id);
      t.is((await inFile()).records.at(-1)?.id, id, "before the end of the answer");
      t.true(writer.isStuck, "new requests are refused");
    }
    t.is((await inFile()).tornBytes, 0);
    works[recovered] = true;
    await writer.flush();
    t.deepEqual(stored, ["req_1", "req_2", "req_3"]);
    t.false(writer.isStuck);
    t.deepEqual(await inFile(), { records: [], tornBytes: 0 });
  });
}

test("what does not fit into the reserve waits in memory, with its response", async (t) => {
  const { writer, works, stored, record, inFile } = await openWriter(await createTestFolder(t), 1_500);
  const ids = Array.from({ length: 9 }, (_, index) => `req_${index}`);
  const ended: string[] = [];
  const all = ids.map((id) => record(id).then(() => ended.push(id)));
  await writer.flush();
  await nextTurn();
  await writer.flush();
  const { records } = await inFile();
  t.true(records.length > 0 && records.length < ids.length);
  t.deepEqual(
    ended,
    records.map(({ id }) => id),
    "no response ends before its record is safe",
  );
  works.database = true;
  await writer.flush();
  await Promise.all(all);
  t.deepEqual(stored, ids);
  t.true(writer.isEmpty);
});

test("without a reserve, new requests are refused", async (t) => {
  const folder = await createTestFolder(t);
  await rm(folder, { recursive: true });
  const reserve = new Reserve(path.join(folder, "reserve.records"), { bytesMax: 10, isSynced: false });
  t.throws(() => reserve.prepare(), { code: "ENOENT" });
  t.false(reserve.isReady);
});

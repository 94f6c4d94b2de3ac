import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import test from "ava";
import type { Database } from "../../db/database.ts";
import { createLog } from "../../gateway/log.ts";
import { Reserve, decodeRecords, DirectWriter, Shipper } from "../../gateway/usage/recording/shipper.ts";
import { type UsageRecord, PendingRecord } from "../../gateway/usage/recording/spool.ts";
import { usageRow } from "../helpers/open-test-database.ts";
import { createTestFolder } from "../helpers/test-folder.ts";

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

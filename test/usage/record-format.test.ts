import test from "ava";
import type { UsageRecordRow } from "../../db/entities/usage-record.ts";
import { decodeRecords } from "../../gateway/usage/recording/shipper.ts";
import { encodeRecord } from "../../gateway/usage/recording/spool.ts";
import { openTestDatabase, usageRow } from "../helpers/open-test-database.ts";
import { databaseKinds } from "../helpers/test-database.ts";

for (const kind of databaseKinds) {
  test(`${kind}: another release's records are read despite missing and extra fields`, async (t) => {
    const {
      limitedBy: _later,
      errorReason: _too,
      timing: _also,
      ...older
    } = usageRow("req_a", { errorCode: "rate_limit_exceeded" });
    const newer = {
      ...usageRow("req_b", { limitedBy: "gateway", errorReason: "budget_per_day" }),
      ofTomorrow: "who knows",
    };
    const lines = [older as UsageRecordRow, newer].map((record) => {
      const buffer = Buffer.alloc(4096);
      return buffer.subarray(0, encodeRecord(buffer, record));
    });
    const { records, tornBytes } = decodeRecords(Buffer.concat(lines));
    t.is(tornBytes, 0);
    t.like(records[0], { limitedBy: null, errorReason: null, timing: null });

    const database = await openTestDatabase(t, kind);
    await database.write(({ usageRecords }) => usageRecords.insertAll(records));
    const rows = await database.read(({ usageRecords }) => usageRecords.listByKey("key_1", 10));
    t.deepEqual(
      rows.map(({ id, errorCode, limitedBy, errorReason }) => [id, errorCode, limitedBy, errorReason]),
      [
        ["req_b", null, "gateway", "budget_per_day"],
        ["req_a", "rate_limit_exceeded", null, null],
      ],
    );
  });
}

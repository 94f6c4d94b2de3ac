import test, { type ExecutionContext } from "ava";
import { createLog } from "../../gateway/log.ts";
import type { UsageRecord } from "../../gateway/usage/recording/spool.ts";
import { Shipper } from "../../gateway/usage/recording/shipper.ts";
import { openDatabaseAt, usageRow } from "../helpers/open-test-database.ts";
import { recordedRequests } from "../helpers/recorded-requests.ts";
import { createMigratedDatabase, type DatabaseKind, allDatabaseKinds } from "../helpers/test-database.ts";

for (const kind of allDatabaseKinds) {
  test(`${kind}: a failed batch neither duplicates earlier ones nor loses later ones`, async (t) => {
    const { url, shipper, shipped } = await openShipper(t, kind);
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

  test(`${kind}: records that arrive during a write wait for the next one`, async (t) => {
    const { shipper, shipped } = await openShipper(t, kind);
    const waiting = rows(0, 3);
    const shipping = shipper.ship(waiting);
    waiting.push(usageRow("req_003"));
    t.true(await shipping);
    t.deepEqual(idsOf(shipped), idsOf(rows(0, 3)));
    t.deepEqual(idsOf(waiting), ["req_003"]);
  });
}

async function openShipper(t: ExecutionContext, kind: DatabaseKind) {
  const url = await createMigratedDatabase(t, kind);
  const shipped: UsageRecord[] = [];
  const shipper = new Shipper({
    database: await openDatabaseAt(t, url),
    log: createLog("error", { write: () => {} }),
    batchRecordsMax: 10,
    shipped: (records) => shipped.push(...records),
  });
  return { url, shipper, shipped };
}

/** Returns rows from one number up to another. */
function rows(from: number, before: number): UsageRecord[] {
  return Array.from({ length: before - from }, (_, index) =>
    usageRow(`req_${String(from + index).padStart(3, "0")}`),
  );
}

function idsOf(records: readonly { id: string }[]): string[] {
  return records.map(({ id }) => id);
}

import test from "ava";
import { Database } from "../../db/database.ts";
import type { UsageRecordRow } from "../../db/entities/usage-record.ts";
import { assertRollUpsMatch } from "../helpers/assert-roll-ups-match.ts";
import { usageRow } from "../helpers/open-test-database.ts";
import { randomUsage } from "../helpers/random-usage.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { allDatabaseKinds, createMigratedDatabase } from "../helpers/test-database.ts";

const limits = { connectionsMax: 10, connectTimeoutMs: 5_000, operationTimeoutMs: 20_000 };
const world = { keys: 5, models: 4, providers: 2, owners: 3 };

for (const kind of allDatabaseKinds) {
  test(`${kind}: roll-ups equal the sums of records under any batching and overlap`, async (t) => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    t.log({ seed });
    const random = seededRandom(seed);
    const url = await createMigratedDatabase(t, kind);
    const first = await Database.open(url, limits);
    await first.migrate();
    // SQLite supports one writer at a time.
    const databases = [first];
    if (kind !== "sqlite")
      for (let more = 0; more < 3; more++) databases.push(await Database.open(url, limits));
    t.teardown(() => Promise.all(databases.map((database) => database.close())));

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
    const database = await Database.open(url, limits);
    t.teardown(() => database.close());
    await database.migrate();

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

import { statSync } from "node:fs";
import { rename } from "node:fs/promises";
import test from "ava";
import { Database } from "../../db/database.ts";
import { createMigratedDatabase } from "../helpers/test-database.ts";
import { openDatabaseAt, openTestDatabase, usageRow } from "../helpers/open-test-database.ts";
import { FairQueue } from "../../db/side/fair-queue.ts";

test("a question sees every record that was committed before it", async (t) => {
  const database = await openTestDatabase(t, "sqlite");
  for (let number = 0; number < 20; number++) {
    await database.write(({ usageRecords }) => usageRecords.insertAll([usageRow(`req_${number}`)]));
    const found = await database.ask(null, ({ usageRecords }) => usageRecords.find(`req_${number}`));
    t.is(found?.id, `req_${number}`);
    t.true(found?.createdAt instanceof Date);
  }
});

test("a question cannot write, and a failed question does not harm the next", async (t) => {
  const database = await openTestDatabase(t, "sqlite");
  await t.throwsAsync(
    database.ask(null, ({ changes }) => changes.append("api_key", "key_1", new Date())),
    { name: "DatabaseUnavailableError" },
  );
  t.is(await database.ask(null, ({ users }) => users.count()), 0);
});

test("questions beside writes do not let the write-ahead log grow", async (t) => {
  const url = await createMigratedDatabase(t, "sqlite");
  const database = await openDatabaseAt(t, url);
  let isWriting = true;
  const asking = (async () => {
    while (isWriting) await database.ask(null, ({ usageRollUps }) => usageRollUps.existsOf("everyone"));
  })();
  for (let batch = 0; batch < 40; batch++) {
    const rows = Array.from({ length: 500 }, (_, index) => usageRow(`req_${batch}_${index}`));
    await database.write(({ usageRecords }) => usageRecords.insertAll(rows));
  }
  isWriting = false;
  await asking;
  const path = url.slice("sqlite:".length);
  // Pages are checkpointed into the file, and the log starts again at 1,000 pages (4 MB).
  t.true(statSync(path).size > 4_000_000, `${statSync(path).size} bytes`);
  t.true(statSync(`${path}-wal`).size < 12_000_000, `${statSync(`${path}-wal`).size} bytes`);
});

test("a thread that cannot open the file fails its question only", async (t) => {
  const url = await createMigratedDatabase(t, "sqlite");
  const path = url.slice("sqlite:".length);
  const database = await openDatabaseAt(t, url);
  await rename(path, `${path}-away`);
  await t.throwsAsync(
    database.ask(null, ({ users }) => users.count()),
    { name: "DatabaseUnavailableError" },
  );
  await rename(`${path}-away`, path);
  t.is(await database.ask(null, ({ users }) => users.count()), 0);
});

test("a closed database refuses questions", async (t) => {
  const url = await createMigratedDatabase(t, "sqlite");
  const limits = { connectionsMax: 1, connectTimeoutMs: 20_000, operationTimeoutMs: 20_000 };
  const database = await Database.open(url, limits);
  await database.migrate();
  t.is(await database.ask(null, ({ users }) => users.count()), 0);
  await database.close();
  await t.throwsAsync(
    database.ask(null, ({ users }) => users.count()),
    { name: "DatabaseUnavailableError" },
  );
});

test("one person's questions delay another's by one, and too many are refused", async (t) => {
  const queue = new FairQueue({ waitingMax: 10, perPersonMax: 6 });
  const order: string[] = [];
  const ask = (person: string) =>
    queue.run(person, async () => {
      await Promise.resolve();
      order.push(person);
    });
  const asked = Array.from({ length: 7 }, () => ask("member"));
  t.throws(() => ask("member"), { name: "DatabaseUnavailableError" });
  asked.push(ask("admin"), ask("admin"));
  await Promise.all(asked);
  t.is(order.indexOf("admin"), 2);
  t.is(order.length, 9);
});

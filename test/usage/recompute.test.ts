import Sqlite from "better-sqlite3";
import test, { type ExecutionContext } from "ava";
import type { UsageRecordRow } from "../../db/entities/usage-record.ts";
import { priceRequest } from "../../gateway/usage/counting/cost.ts";
import { recomputeCommand, recomputeCosts } from "../../gateway/usage/history/recompute-costs.ts";
import { assertRollUpsMatch } from "../helpers/assert-roll-ups-match.ts";
import { startGatewayProcess } from "../helpers/gateway-process.ts";
import { modelRow, openDatabaseAt, openTestDatabase, providerRow } from "../helpers/open-test-database.ts";
import { queryDatabase } from "../helpers/query-database.ts";
import { randomUsage } from "../helpers/random-usage.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { startTcpProxy } from "../helpers/tcp-proxy.ts";
import {
  createMigratedDatabase,
  type DatabaseKind,
  allDatabaseKinds,
  lockingKinds,
  serverKinds,
} from "../helpers/test-database.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { patience } from "../helpers/test-gateway.ts";

const from = new Date("2026-11-03T12:00:00Z");
const to = new Date("2026-11-05T12:00:00Z");
/** The current prices of models 0 and 1. Model 2 has no price. */
const prices = {
  inputPrice: 3_000_000_000,
  cachedInputPrice: 300_000_000,
  cacheWritePrice: null,
  outputPrice: 15_000_000_000,
};
const noPrices = { inputPrice: null, cachedInputPrice: null, cacheWritePrice: null, outputPrice: null };

async function openHistory(t: ExecutionContext, kind: DatabaseKind) {
  const url = await createMigratedDatabase(t, kind);
  const database = await openDatabaseAt(t, url);
  await database.write(async ({ providers, models }) => {
    await providers.insert(providerRow("prv_0", { name: "provider-0" }));
    for (const number of [0, 1, 2]) {
      const names = { slug: `provider-0/model-${number}`, upstreamModel: `model-${number}` };
      const priced = number === 2 ? {} : prices;
      await models.insert(modelRow(`mdl_${number}`, "prv_0", { ...names, ...priced }));
    }
  });
  const random = seededRandom(11);
  const records = Array.from({ length: 3_000 }, () => {
    const moment = new Date(Date.UTC(2026, 10, 1) + random.upTo(7 * 86_400_000));
    const record = randomUsage(random, moment, { keys: 5, models: 3, providers: 1, owners: 2 });
    // About half of the records have no price, as if the prices were entered later.
    return random.chance(0.5) ? { ...record, ...noPrices, cost: null } : record;
  });
  await database.write(({ usageRecords }) => usageRecords.insertAll(records));
  return { url, database, records };
}

function meant({ createdAt, upstreamModel }: UsageRecordRow, models: string[]): boolean {
  return createdAt >= from && createdAt < to && models.includes(upstreamModel ?? "");
}

async function costs(url: string): Promise<Map<string, string>> {
  const rows = await queryDatabase(
    url,
    "SELECT id, cost, input_price, cached_input_price, output_price FROM usage_records",
  );
  return new Map(
    rows.map((row) => [
      String(row["id"]),
      [row["cost"], row["input_price"], row["cached_input_price"], row["output_price"]].join(),
    ]),
  );
}

function expectedCost(record: UsageRecordRow, models: string[]): string {
  const by = meant(record, models) ? { ...record, ...prices, cost: costOf(record) } : record;
  return [by.cost, by.inputPrice, by.cachedInputPrice, by.outputPrice].join();
}

function costOf(record: UsageRecordRow): number | null {
  return priceRequest(prices, record, record.createdAt).cost;
}

for (const kind of allDatabaseKinds) {
  test(`${kind}: recomputing updates costs and roll-ups of the period and nothing else`, async (t) => {
    const { url, database, records } = await openHistory(t, kind);

    const results = await recomputeCosts(database, { from, to });

    const after = await costs(url);
    for (const record of records) t.is(after.get(record.id), expectedCost(record, ["model-0", "model-1"]));
    t.is(await assertRollUpsMatch(url), 3_000);
    const [result] = results.filter(({ model }) => model === "provider-0/model-0");
    const of = records.filter((record) => meant(record, ["model-0"]));
    t.is(result?.records, of.length);
    t.is(result?.unknownBefore, of.filter(({ cost }) => cost === null).length);
    t.is(result?.unknownAfter, of.filter((record) => costOf(record) === null).length);
    t.is(
      result?.costAfter,
      of.reduce((sum, record) => sum + BigInt(costOf(record) ?? 0), 0n),
    );

    const again = await recomputeCosts(database, { from, to });
    t.deepEqual(
      again.map(({ changed }) => changed),
      again.map(() => 0),
    );
    t.deepEqual(await costs(url), after);
  });
}

for (const kind of lockingKinds) {
  test(`${kind}: recomputing one model tolerates concurrent writes and recomputations`, async (t) => {
    const { url, database, records } = await openHistory(t, kind);
    const random = seededRandom(12);
    const more = Array.from({ length: 1_000 }, () =>
      randomUsage(random, new Date(from.getTime() - 1 - random.upTo(10_000_000)), {
        keys: 5,
        models: 3,
        providers: 1,
        owners: 2,
      }),
    );
    const criteria = { from, to, model: "provider-0/model-1" };
    await Promise.all([
      recomputeCosts(database, criteria),
      recomputeCosts(database, criteria),
      ...[0, 250, 500, 750].map((start) =>
        database.write(({ usageRecords }) => usageRecords.insertAll(more.slice(start, start + 250))),
      ),
    ]);

    const after = await costs(url);
    for (const record of records) t.is(after.get(record.id), expectedCost(record, ["model-1"]));
    t.is(await assertRollUpsMatch(url), 4_000);
  });
}

for (const kind of serverKinds) {
  test(`${kind}: costs are written with few statements`, async (t) => {
    const { url, records } = await openHistory(t, kind);
    const far = new URL(url);
    const proxy = await startTcpProxy(t, Number(far.port));
    far.hostname = "127.0.0.1";
    far.port = String(proxy.port);
    const database = await openDatabaseAt(t, far.href);
    const before = proxy.sentChunks();

    await recomputeCosts(database, { from, to });

    // Over a slow connection, a statement per record would take longer than the database's timeout.
    t.true(proxy.sentChunks() - before < 100, `${proxy.sentChunks() - before} chunks for 3,000 records`);

    const after = await costs(url);
    for (const record of records) t.is(after.get(record.id), expectedCost(record, ["model-0", "model-1"]));
    t.is(await assertRollUpsMatch(url), 3_000);
  });
}

test("sqlite: other processes can write between the parts of a recomputation", async (t) => {
  const { url, database } = await openHistory(t, "sqlite");
  const other = new Sqlite(url.slice("sqlite:".length), { timeout: 0 });
  t.teardown(() => other.close());
  let parts = 0;
  let writes = 0;
  let partEndedAt: number | null = null;
  const gapsMs: number[] = [];
  const write = database.write.bind(database);
  database.write = (work) => {
    if (partEndedAt !== null) {
      gapsMs.push(performance.now() - partEndedAt);
      if (canWrite(other)) writes++;
    }
    return write(work);
  };

  const everything = { from: new Date("2026-11-01"), to: new Date("2026-11-09") };
  await recomputeCosts(database, everything, () => {
    parts++;
    partEndedAt = performance.now();
    if (canWrite(other)) writes++;
  });

  t.true(parts > 4);
  t.is(writes, 2 * parts, "the database is unlocked at the start and at the end of every gap");
  // Other processes poll for the lock, so they could miss a short gap.
  t.is(gapsMs.length, parts);
  for (const gapMs of gapsMs) t.true(gapMs >= 19, `${gapMs} ms`);
});

function canWrite(connection: Sqlite.Database): boolean {
  try {
    connection.exec("UPDATE counters SET value = value + 1");
    return true;
  } catch (error) {
    if (error instanceof Sqlite.SqliteError && error.code === "SQLITE_BUSY") return false;
    throw error;
  }
}

test("the command reports its changes", async (t) => {
  const { url, records } = await openHistory(t, "sqlite");
  const environment = { ...patience, DATA_DIR: await createTestFolder(t), DATABASE_URL: url };
  const period = ["--from", from.toISOString(), "--to", to.toISOString()];

  const done = startGatewayProcess(
    t,
    environment,
    "usage:recompute",
    ...period,
    "--model",
    "provider-0/model-0",
  );

  t.is(await done.exited, 0, done.stderr());
  const of = records.filter((record) => meant(record, ["model-0"])).length;
  const said = `^provider-0/model-0: the cost of \\d+ of ${of} requests changed\\. \\$\\d+\\.\\d{9} before \\(\\d+ unpriced\\), \\$`;
  t.regex(done.stdout(), new RegExp(said));
  await assertRollUpsMatch(url);
});

const wrong: [parameters: string[], words: RegExp][] = [
  [["--from", "2026-11-01"], /--to is missing/],
  [["--from", "yesterday", "--to", "2026-11-01"], /--from is neither a date nor a timestamp/],
  [["--from", "2026-02-01", "--to", "2026-02-31"], /--to is neither a date nor a timestamp: 2026-02-31/],
  [["--from", "2026-02-30T12:00Z", "--to", "2026-11-01"], /--from is neither .*: 2026-02-30T12:00Z/],
  [
    ["--from", "2024-02-29", "--to", "2024-02-28T23:59:59.999Z"],
    /--from 2024-02-29 is not before --to 2024-02-28T23:59:59.999Z/,
  ],
  [["--from", "2026-11-02", "--to", "2026-11-01"], /--from 2026-11-02 is not before --to 2026-11-01/],
  [
    ["--from", "2026-11-01", "--to", "2026-11-02", "--model", "none/such"],
    /The model none\/such does not exist/,
  ],
  [["--what"], /--what/],
];
for (const [parameters, words] of wrong) {
  test(`the command rejects ${parameters.join(" ")}`, async (t) => {
    const database = await openTestDatabase(t, "sqlite");
    await t.throwsAsync(
      recomputeCommand(database, parameters, () => {}),
      { message: words },
    );
  });
}

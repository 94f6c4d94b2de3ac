import test, { type ExecutionContext } from "ava";
import { eventually } from "../helpers/eventually.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { compare, failuresOf, startClients } from "./clients.ts";
import { createKillableDatabase, type KillableDatabase } from "./killable-database.ts";
import { createModelUpstream } from "./model-upstream.ts";
import { figures, isFull } from "../helpers/scale.ts";
import { setStage } from "./stage.ts";

const plan = isFull ? { kills: 20, clients: 32, answers: 300 } : { kills: 2, clients: 8, answers: 40 };

async function play(t: ExecutionContext, database: KillableDatabase, bug?: string) {
  const upstream = await createModelUpstream(t);
  const dataDir = await createTestFolder(t);
  const databaseUrl = await database.createEmpty();
  const environment = { DATABASE_TIMEOUT_MS: "2000", USAGE_FLUSH_INTERVAL_MS: "5" };
  const stage = await setStage(t, { upstream, dataDir, databaseUrl, environment, bug });
  const clients = startClients({ ...stage, count: plan.clients });
  for (let kill = 0; kill < plan.kills; kill++) {
    for (const isThere of [true, false]) {
      const before = clients.ledger.complete.length;
      await eventually(() => clients.ledger.complete.length >= before + plan.answers);
      if (isThere) database.signal("SIGKILL");
      await database.ended();
    }
    await database.start();
  }
  const ledger = await clients.stop();
  stage.gateway().child.kill("SIGTERM");
  await stage.gateway().exited;
  const result = {
    ...compare(ledger, await stage.records()),
    complete: ledger.complete.length,
    failed: failuresOf(ledger),
  };
  t.log(figures(`L2${bug ? ` ${bug}` : ""}, ${plan.kills} kills of the database`, result));
  return result;
}

test.serial("every complete response has a record, however often the database is killed", async (t) => {
  t.timeout(600_000);
  const database = await createKillableDatabase(t);
  if (!database) return t.pass("no MariaDB");
  const result = await play(t, database);
  t.is(result.missing, 0);
  t.is(result.duplicated, 0);
  t.is(result.failed, 0, "and no request fails for it");

  if (!isFull) return t.pass("the proof that a loss is detected is part of the full run");
  const broken = await play(t, database, "forget-when-refused.ts");
  return t.true(broken.missing > 0, "seen to fail: records that the database refused are forgotten");
});

import { rm } from "node:fs/promises";
import path from "node:path";
import test, { type ExecutionContext } from "ava";
import { eventually } from "../helpers/eventually.ts";
import { compare, failuresOf, startClients } from "./clients.ts";
import { createKillableDatabase, type KillableDatabase } from "./killable-database.ts";
import { createModelUpstream } from "./model-upstream.ts";
import { figures, isFull } from "../helpers/scale.ts";
import { fillDisk, mountSmallDisk } from "./small-disk.ts";
import { setStage } from "./stage.ts";

// With a full disk, the gateway writes records directly to the database. If the database also fails, the gateway
// rejects new requests with 503.
const plan = isFull ? { clients: 32, answers: 500 } : { clients: 8, answers: 60 };

async function play(t: ExecutionContext, database: KillableDatabase, dataDir: string, bug?: string) {
  const upstream = await createModelUpstream(t);
  const databaseUrl = await database.createEmpty();
  const environment = { USAGE_RESERVE_BYTES: String(128 * 1024) };
  const stage = await setStage(t, { upstream, dataDir, databaseUrl, environment, bug });
  const clients = startClients({ ...stage, count: plan.clients });
  const { ledger } = clients;
  const progress = (answers: number) => {
    const before = ledger.complete.length;
    return eventually(() => ledger.complete.length >= before + answers);
  };
  await progress(plan.answers);
  const failedBefore = failuresOf(ledger);
  fillDisk(dataDir);
  await progress(plan.answers);
  const failedWithFullDisk = failuresOf(ledger) - failedBefore;
  database.signal("SIGKILL");
  await database.ended();
  // The gateway must reject requests. With the bug, it serves them, so complete responses also end the wait.
  const refusedOrServed = (refusals: number, answers: number) => {
    const before = ledger.complete.length;
    return eventually(
      () => (ledger.errors.get(503) ?? 0) >= refusals || ledger.complete.length >= before + answers,
    );
  };
  await refusedOrServed(5, 100 * plan.clients);
  const completeThen = ledger.complete.length;
  await refusedOrServed(20, 10 * plan.clients);
  const endedWithoutBoth = ledger.complete.length - completeThen;
  await database.start();
  await progress(bug ? 0 : plan.answers);
  await rm(path.join(dataDir, "filler"));
  await progress(bug ? 0 : plan.answers);
  await clients.stop();
  stage.gateway().child.kill("SIGTERM");
  await stage.gateway().exited;
  const result = {
    ...compare(ledger, await stage.records()),
    complete: ledger.complete.length,
    failedWithFullDisk,
    endedWithoutBoth,
    refused: ledger.errors.get(503) ?? 0,
    otherFailures: failuresOf(ledger) - (ledger.errors.get(503) ?? 0),
  };
  t.log(figures(`L6${bug ? ` ${bug}` : ""}`, result));
  return result;
}

for (const bug of [undefined, "answer-unrecorded.ts"]) {
  const declare = bug && !isFull ? test.serial.skip : test.serial;
  declare(`${bug ? "negative control: " : ""}a full disk serves no request without a record`, async (t) => {
    t.timeout(600_000);
    const database = await createKillableDatabase(t);
    const folder = await mountSmallDisk(t, "512k");
    if (!folder) console.error("L6 skipped: mounting a small disk is not allowed here.");
    if (!folder || !database) return t.pass();
    const result = await play(t, database, folder, bug);
    if (bug) return t.true(result.missing > 0);
    t.is(result.missing, 0);
    t.is(result.duplicated, 0);
    t.is(result.failedWithFullDisk, 0);
    // These requests were in flight when the gateway began to reject requests.
    t.true(result.endedWithoutBoth <= plan.clients);
    t.true(result.refused > 0);
    return t.is(result.otherFailures, 0);
  });
}

import test, { type ExecutionContext } from "ava";
import { eventually, hangMs } from "../helpers/eventually.ts";
import { createMigratedDatabase, databaseKinds } from "../helpers/test-database.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { compare, startClients } from "./clients.ts";
import { createModelUpstream } from "./model-upstream.ts";
import { figures, isFull } from "../helpers/scale.ts";
import { setStage, type Stage } from "./stage.ts";

const plan = isFull ? { kills: 20, clients: 64, answers: 400 } : { kills: 2, clients: 16, answers: 60 };

async function killUnderLoad(stage: Stage, patienceMs: number) {
  const { url, key, model } = stage;
  const clients = startClients({ url, key, model, count: plan.clients });
  for (let kill = 0; kill < plan.kills; kill++) {
    const before = clients.ledger.complete.length;
    await eventually(() => clients.ledger.complete.length >= before + plan.answers);
    const { child, exited } = stage.gateway();
    child.kill("SIGKILL");
    await exited;
    await stage.restart();
  }
  const ledger = await clients.stop();
  // The last process ships the records of killed processes, which takes time.
  const isDone = async () => compare(ledger, await stage.records()).missing === 0;
  await eventually(isDone, patienceMs).catch(() => {});
  stage.gateway().child.kill("SIGTERM");
  await stage.gateway().exited;
  const records = await stage.records();
  return {
    ...compare(ledger, records),
    complete: ledger.complete.length,
    broken: ledger.broken,
    errors: [...ledger.errors.values()].length,
    interrupted: records.filter(({ status }) => status === "INTERRUPTED").length,
  };
}

async function play(t: ExecutionContext, kind: (typeof databaseKinds)[number], bug?: string) {
  t.timeout(600_000);
  const upstream = await createModelUpstream(t);
  const databaseUrl = await createMigratedDatabase(t, kind);
  const stage = await setStage(t, { upstream, databaseUrl, dataDir: await createTestFolder(t), bug });
  // Records lost by a bug never arrive, so the wait is short.
  const result = await killUnderLoad(stage, bug ? 3_000 : hangMs);
  t.log(figures(`L1 ${kind}${bug ? `, ${bug}` : ""}, ${plan.kills} kills`, result));
  return result;
}

for (const kind of databaseKinds) {
  test.serial(`${kind}: every complete response has a record despite killed gateways`, async (t) => {
    const result = await play(t, kind);
    t.is(result.missing, 0);
    t.is(result.duplicated, 0);
    t.true(result.complete >= plan.kills * plan.answers);
    t.true(result.interrupted > 0, "requests under way are in the history, too");
  });
}

const negativeControl = isFull ? test.serial : test.serial.skip;

negativeControl("negative control: a record written after the end of the response", async (t) => {
  t.true((await play(t, "sqlite", "record-after-the-end.ts")).missing > 0);
});

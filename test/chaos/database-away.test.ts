import { setTimeout as wait } from "node:timers/promises";
import { TRPCClientError } from "@trpc/client";
import test, { type ExecutionContext } from "ava";
import type { AppRouter } from "../../gateway/trpc/app-router.ts";
import { eventually } from "../helpers/eventually.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { compare, failuresOf, startClients } from "./clients.ts";
import { createKillableDatabase, type KillableDatabase } from "./killable-database.ts";
import { createModelUpstream } from "./model-upstream.ts";
import { figures, isFull } from "../helpers/scale.ts";
import { setStage, type Stage } from "./stage.ts";
import { createTcpProxy, type TcpProxy } from "./tcp-proxy.ts";

const plan = isFull
  ? { awayMs: 60_000, clients: 16, pauseMs: 0 }
  : { awayMs: 3_000, clients: 4, pauseMs: 20 };

type Absence = {
  title: string;
  begin(database: KillableDatabase, proxy: TcpProxy): Promise<void> | void;
  end(database: KillableDatabase, proxy: TcpProxy): Promise<void> | void;
};

const absences: Absence[] = [
  {
    title: "killed",
    async begin(database) {
      database.signal("SIGKILL");
      await database.ended();
    },
    end: (database) => database.start(),
  },
  {
    title: "frozen",
    begin: (database) => database.signal("SIGSTOP"),
    end: (database) => database.signal("SIGCONT"),
  },
  { title: "cut off", begin: (_, proxy) => proxy.cut(), end: (_, proxy) => proxy.heal() },
];

async function play(t: ExecutionContext, database: KillableDatabase, absence: Absence, bug?: string) {
  const upstream = await createModelUpstream(t);
  const ownDatabaseUrl = await database.createEmpty();
  const proxy = await createTcpProxy(t, database.port);
  const databaseUrl = Object.assign(new URL(ownDatabaseUrl), { port: String(proxy.port) }).href;
  const dataDir = await createTestFolder(t);
  const environment = { DATABASE_TIMEOUT_MS: "5000" };
  const stage = await setStage(t, { upstream, dataDir, databaseUrl, ownDatabaseUrl, environment, bug });

  const clients = startClients({ ...stage, count: plan.clients, pauseMs: plan.pauseMs });
  const progress = (answers: number) => {
    const before = clients.ledger.complete.length;
    return eventually(() => clients.ledger.complete.length >= before + answers);
  };
  await progress(50);
  await absence.begin(database, proxy);
  const awayMs = bug ? 3_000 : plan.awayMs;
  const away = wait(awayMs);
  const consoleStatus = await statusOfConsole(stage);
  await away;
  const servedMeanwhile = clients.ledger.complete.length;
  await absence.end(database, proxy);
  const backAt = performance.now();
  if (!bug) await progress(50);
  const ledger = await clients.stop();
  const isDone = async () => compare(ledger, await stage.records()).missing === 0;
  await eventually(isDone);
  const caughtUpMs = Math.round(performance.now() - backAt);
  await eventually(async () => (await statusOfConsole(stage)) === 200);
  stage.gateway().child.kill("SIGTERM");
  await stage.gateway().exited;
  const result = {
    ...compare(ledger, await stage.records()),
    complete: ledger.complete.length,
    failed: failuresOf(ledger),
    servedMeanwhile,
    consoleStatus,
    caughtUpMs,
  };
  t.log(figures(`L3 ${absence.title} for ${awayMs} ms${bug ? `, ${bug}` : ""}`, result));
  return result;
}

async function statusOfConsole({ console }: Stage): Promise<number> {
  try {
    await console.keys.list.query({});
    return 200;
  } catch (error) {
    return error instanceof TRPCClientError
      ? ((error as TRPCClientError<AppRouter>).data?.httpStatus ?? 0)
      : 0;
  }
}

test.serial("an unavailable database fails no request and loses no record", async (t) => {
  t.timeout(900_000);
  const database = await createKillableDatabase(t);
  if (!database) return t.pass("no MariaDB");
  for (const absence of absences) {
    const result = await play(t, database, absence);
    t.is(result.missing, 0, absence.title);
    t.is(result.duplicated, 0, absence.title);
    t.is(result.failed, 0, absence.title);
    t.is(result.consoleStatus, 503, absence.title);
  }
  if (!isFull) return t.pass("the proof that a loss is detected is part of the full run");
  const [killed] = absences;
  if (!killed) return t.fail();
  const broken = await play(t, database, killed, "wait-for-the-database.ts");
  return t.true(broken.failed > 0, "seen to fail: no new requests while the database is away");
});

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
import { startTcpProxy, type TcpProxy } from "../helpers/tcp-proxy.ts";
import { setStage, type Stage } from "./stage.ts";

const plan = isFull
  ? { kills: 20, awayMs: 60_000, clients: 32, answers: 300, pauseMs: 0 }
  : { kills: 1, awayMs: 3_000, clients: 8, answers: 40, pauseMs: 50 };

type Absence = {
  title: string;
  awayMs: number;
  begin(database: KillableDatabase, proxy: TcpProxy): Promise<void> | void;
  end(database: KillableDatabase, proxy: TcpProxy): Promise<void> | void;
};

const killed: Absence = {
  title: "killed",
  awayMs: plan.awayMs,
  async begin(database) {
    database.signal("SIGKILL");
    await database.ended();
  },
  end: (database) => database.start(),
};

/** First, the database is killed again and again for as short as it can be. */
const absences: Absence[] = [
  ...Array.from({ length: plan.kills }, () => ({ ...killed, awayMs: 0 })),
  killed,
  {
    title: "frozen",
    awayMs: plan.awayMs,
    begin: (database) => database.signal("SIGSTOP"),
    end: (database) => database.signal("SIGCONT"),
  },
  {
    title: "cut off",
    awayMs: plan.awayMs,
    begin: (_, proxy) => proxy.cut(),
    end: (_, proxy) => proxy.heal(),
  },
];

async function play(t: ExecutionContext, database: KillableDatabase, all: Absence[], bug?: string) {
  const upstream = await createModelUpstream(t);
  const ownDatabaseUrl = await database.createEmpty();
  const proxy = await startTcpProxy(t, database.port);
  const databaseUrl = Object.assign(new URL(ownDatabaseUrl), { port: String(proxy.port) }).href;
  const dataDir = await createTestFolder(t);
  const environment = {
    DATABASE_TIMEOUT_MS: "5000",
    DATABASE_CONNECT_TIMEOUT_MS: "5000",
    USAGE_FLUSH_INTERVAL_MS: "5",
  };
  const stage = await setStage(t, { upstream, dataDir, databaseUrl, ownDatabaseUrl, environment, bug });

  const clients = startClients({ ...stage, count: plan.clients, pauseMs: plan.pauseMs });
  const progress = async () => {
    if (bug) return;
    const before = clients.ledger.complete.length;
    await eventually(() => clients.ledger.complete.length >= before + plan.answers);
  };
  await eventually(() => clients.ledger.complete.length >= plan.answers);
  const consoleStatuses = new Set<number>();
  for (const { awayMs, begin, end } of all) {
    await begin(database, proxy);
    const away = wait(awayMs);
    consoleStatuses.add(await statusOfConsole(stage));
    await away;
    await progress();
    await end(database, proxy);
    await progress();
    await eventually(async () => (await statusOfConsole(stage)) === 200);
  }
  const ledger = await clients.stop();
  const isDone = async () => bug !== undefined || compare(ledger, await stage.records()).missing === 0;
  await eventually(isDone);
  stage.gateway().child.kill("SIGTERM");
  await stage.gateway().exited;
  const result = {
    ...compare(ledger, await stage.records()),
    complete: ledger.complete.length,
    failed: failuresOf(ledger),
    consoleStatuses: [...consoleStatuses].join(),
  };
  t.log(figures(`L2 L3 ${all.map(({ title }) => title).join(", ")}${bug ? `, ${bug}` : ""}`, result));
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

test.serial("a database killed, frozen or cut off fails no request and loses no record", async (t) => {
  t.timeout(900_000);
  const database = await createKillableDatabase(t);
  if (!database) return t.pass("no MariaDB");
  const result = await play(t, database, absences);
  t.is(result.missing, 0);
  t.is(result.duplicated, 0);
  t.is(result.failed, 0);
  t.is(result.consoleStatuses, "503");
  if (!isFull) return t.pass("the proof that a loss is detected is part of the full run");
  const short = [{ ...killed, awayMs: 3_000 }];
  const waiting = await play(t, database, short, "wait-for-the-database.ts");
  t.true(waiting.failed > 0, "seen to fail: no new requests while the database is away");
  const forgetting = await play(t, database, short, "forget-when-refused.ts");
  return t.true(forgetting.missing > 0, "seen to fail: records that the database refused are forgotten");
});

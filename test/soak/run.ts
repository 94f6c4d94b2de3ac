import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { FaultyUpstream } from "./faulty-upstream.ts";
import { startProcess } from "../bench/measured-process.ts";
import { startFlags } from "../bench/start-flags.ts";
import { assertRollUpsMatch } from "../helpers/assert-roll-ups-match.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { type GatewayProcess, startGatewayProcess } from "../helpers/gateway-process.ts";
import { provideMariadb } from "../helpers/mariadb-programs.ts";
import { type OwnServer, startOwnServer } from "../helpers/own-server.ts";
import { queryDatabase } from "../helpers/query-database.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { administrator, signIn } from "../helpers/test-gateway.ts";
import { ChangingKeys } from "./changing-keys.ts";
import { MemoryWatch, type Sample } from "./memory-watch.ts";
import { SoakClients } from "./soak-clients.ts";

/**
 * `npm run test:soak` puts two hours of mixed load on one gateway process, and restarts its MariaDB every
 * five minutes.
 */
async function soak(minutes: number, requestsPerSecond: number): Promise<boolean> {
  const teardowns: (() => unknown)[] = [];
  const t: Owner = { teardown: (stop) => void teardowns.push(stop) };
  try {
    const stage = await setUp(t, requestsPerSecond);
    const { clients, keys, database, memory } = stage;
    const untilMs = performance.now() + minutes * minuteMs;
    const restarting = restartDatabase(database, untilMs);
    // A database that does not start again ends the run at once.
    const failing = new Promise<never>((_resolve, reject) => void restarting.catch(reject));
    let before = 0;
    let early: Sample | undefined;
    let last: Sample = memory.take();
    for (let minute = 1; minute <= minutes; minute++) {
      await Promise.race([wait(minuteMs), failing]);
      last = memory.take();
      if (minute === Math.min(10, Math.ceil(minutes / 2))) early = last;
      const { requests, cancelled, faulty, revoked } = clients.counts;
      console.log(
        `minute ${minute}: ${requests} requests (${Math.round((requests - before) / 60)}/s), ${cancelled} cancelled, ${faulty} to the faulty provider, ${revoked} with a revoked key; ${keys.changes} keys changed; ${formatSample(last)}`,
      );
      before = requests;
    }
    await keys.stop();
    await clients.stop();
    const restarts = await restarting;
    const lost = await countLost(clients.ids, `${database.url}/soak`);
    await assertRollUpsMatch(`${database.url}/soak`);
    memory.stop();
    await stage.stop();
    return report({ stage, minutes, early: early ?? last, last, lost, restarts });
  } finally {
    for (const stop of teardowns.toReversed()) await stop();
  }
}

type Owner = { teardown(stop: () => unknown): void };
type Stage = Awaited<ReturnType<typeof setUp>>;

async function setUp(t: Owner, requestsPerSecond: number) {
  const programs = provideMariadb(console.log);
  if (!programs) throw new Error("The soak restarts a MariaDB of its own, and this machine has none.");
  const database = await startOwnServer(t, { kind: "mariadb", programs });
  await queryDatabase(database.url, "CREATE DATABASE soak");
  const upstream = startProcess<FaultyUpstream>("../soak/faulty-upstream.ts");
  t.teardown(() => upstream.stop());
  const provider = await upstream.ask("url");
  const gateway = startGatewayProcess(t, {
    PORT: "0",
    DATA_DIR: await createTestFolder(t),
    DATABASE_URL: `${database.url}/soak`,
    ADMIN_EMAIL: administrator.email,
    ADMIN_PASSWORD: administrator.password,
    UPSTREAM_PRIVATE_HOSTS: "*",
    LOG_LEVEL: "error",
    // Cool-downs would keep requests away from the faulty provider.
    UPSTREAM_COOL_DOWN_MS: "1",
    NODE_OPTIONS: startFlags()
      .filter((flag) => flag.startsWith("--max"))
      .join(" "),
  });
  const url = await gateway.listening();
  const admin = await signIn(url, administrator);
  const healthy = await connectUpstream({ admin }, { url: `${provider}/healthy` }, { name: "healthy" });
  const faulty = await connectUpstream(
    { admin },
    { url: `${provider}/faulty` },
    { name: "faulty", idleTimeoutMs: 1_000, firstByteTimeoutMs: 5_000 },
  );
  const models = [healthy.model, faulty.model];
  const keys = await ChangingKeys.create({ url, ...administrator, models });
  const clients = new SoakClients({
    url,
    requestsPerSecond,
    key: () => keys.next(),
    healthyModel: healthy.model,
    faultyModel: faulty.model,
  });
  const memory = new MemoryWatch(gateway.child.pid ?? 0);
  return { database, gateway, keys, clients, memory, stop: () => stopGateway(gateway) };
}

function report({ stage, minutes, early, last, lost, restarts }: Outcome): boolean {
  const { clients, keys } = stage;
  const growth = (name: keyof Sample) => last[name] / early[name] - 1;
  const problems = [
    lost > 0 && `${lost} records were lost`,
    growth("rssMib") > growthMax && "the memory grew",
    last.descriptors > early.descriptors + descriptorsMore && "the descriptors grew",
    clients.unexplained.size > 0 &&
      `unexplained failures: ${[...clients.unexplained].map(([what, times]) => `${times} × ${what}`).join(", ")}`,
    minutes >= 120 && clients.counts.requests < 1_000_000 && "fewer than a million requests",
  ].filter((problem) => problem !== false);
  console.log(
    `\nDatabase restarts: ${restarts}. Keys changed: ${keys.changes}, refused: ${keys.refusedChanges}.`,
  );
  console.log(`Memory early: ${formatSample(early)}. At the end: ${formatSample(last)}.`);
  console.log(
    `${clients.counts.requests} requests, ${lost} lost records, RSS ${(growth("rssMib") * 100).toFixed(1)} %: ${problems.length === 0 ? "passed" : problems.join("; ")}`,
  );
  return problems.length === 0;
}

type Outcome = { stage: Stage; minutes: number; early: Sample; last: Sample; lost: number; restarts: number };

const minuteMs = 60_000;
const growthMax = 0.1;
/** The number of connections to clients, the database and the upstream varies by up to this much. */
const descriptorsMore = 100;

function formatSample({ rssMib, descriptors }: Sample): string {
  return `RSS ${rssMib.toFixed(0)} MiB, ${descriptors.toFixed(0)} descriptors`;
}

/** Returns the number of restarts. */
async function restartDatabase(database: OwnServer, untilMs: number): Promise<number> {
  let restarts = 0;
  while (performance.now() + restartIntervalMs < untilMs) {
    await wait(restartIntervalMs);
    await database.stop();
    await wait(awayMs);
    await database.start();
    restarts++;
  }
  return restarts;
}

const restartIntervalMs = 5 * minuteMs;
const awayMs = 5_000;

/** Waits up to a minute for all records to reach the database. Returns the number of missing records. */
async function countLost(ids: Set<string>, url: string): Promise<number> {
  for (let attempt = 0; ids.size > 0 && attempt < 60; attempt++) {
    await removeRecorded(ids, url);
    if (ids.size > 0) await wait(1_000);
  }
  return ids.size;
}

async function removeRecorded(ids: Set<string>, url: string): Promise<void> {
  for (let last = ""; ;) {
    const rows = await queryDatabase(
      url,
      `SELECT id FROM usage_records WHERE id > '${last}' ORDER BY id LIMIT 50000`,
    );
    for (const { id } of rows) ids.delete(String(id));
    const end = rows.at(-1);
    if (!end) return;
    last = String(end["id"]);
  }
}

async function stopGateway(gateway: GatewayProcess): Promise<void> {
  gateway.child.kill("SIGTERM");
  await gateway.exited;
}

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "120" },
    rate: { type: "string", default: "200" },
  },
});
process.exitCode = (await soak(Number(values.minutes), Number(values.rate))) ? 0 : 1;

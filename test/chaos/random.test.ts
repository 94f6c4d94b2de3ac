import { execFileSync } from "node:child_process";
import { rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import test, { type ExecutionContext } from "ava";
import { eventually } from "../helpers/eventually.ts";
import { figures, isFull } from "../helpers/scale.ts";
import { seededRandom, type SeededRandom } from "../helpers/seeded-random.ts";
import { compare, startClients } from "./clients.ts";
import { changeKeys, checkKeys } from "./key-ledger.ts";
import { createKillableDatabase, type KillableDatabase } from "./killable-database.ts";
import { createModelUpstream } from "./model-upstream.ts";
import { fillDisk, mountSmallDisk } from "./small-disk.ts";
import { setStage, type Stage } from "./stage.ts";

// TEST_SEED repeats a run, and TEST_MINUTES shortens one at full scale.
const seed = Number(process.env["TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const minutes = isFull ? Number(process.env["TEST_MINUTES"] ?? 10) : 1 / 12;
const plan = isFull
  ? { clients: 16, pauseMs: 100, changePauseMs: 200, calmMsMax: 4_000, troubleMsMax: 4_000 }
  : { clients: 8, pauseMs: 50, changePauseMs: 50, calmMsMax: 500, troubleMsMax: 1_000 };

type Scene = { stage: Stage; dataDir: string; database: KillableDatabase | null; random: SeededRandom };

async function kill({ stage, dataDir }: Scene): Promise<void> {
  const { child, exited } = stage.gateway();
  child.kill("SIGKILL");
  await exited;
  try {
    await stage.restart();
  } catch {
    // A gateway may refuse to start on a full disk.
    await freeDisk(dataDir);
    await stage.restart();
  }
}

function freeDisk(folder: string): Promise<void> {
  return rm(path.join(folder, "filler"), { force: true });
}

const troubles = {
  kill,
  /** Half of the time, the process also dies while the disk is full. */
  async fullDisk(scene: Scene) {
    const { dataDir, random } = scene;
    fillDisk(dataDir);
    await wait(random.upTo(plan.troubleMsMax));
    if (random.chance(0.5)) await kill(scene);
    await wait(random.upTo(plan.troubleMsMax / 2));
    await freeDisk(dataDir);
  },
  /** The process survives, but its writes beyond the limit fail: COMMIT, too. */
  async fileSizeLimit(scene: Scene) {
    const { stage, random } = scene;
    const limit = (bytes: number | "unlimited") =>
      execFileSync("prlimit", [`--pid=${stage.gateway().child.pid}`, `--fsize=${bytes}:`]);
    limit(random.pick([4_096, 65_536, 262_144]));
    await wait(random.upTo(plan.troubleMsMax));
    if (random.chance(0.3)) await kill(scene);
    else limit("unlimited");
  },
  async databaseAway({ database, random }: Scene) {
    if (!database) return;
    database.signal("SIGKILL");
    await database.ended();
    await wait(random.upTo(plan.troubleMsMax));
    await database.start();
  },
};

async function play(t: ExecutionContext, dataDir: string, database: KillableDatabase | null) {
  const random = seededRandom(seed);
  t.log(`TEST_SEED=${seed}`);
  const upstream = await createModelUpstream(t);
  const databaseUrl = (await database?.createEmpty()) ?? `sqlite:${dataDir}/gateway.db`;
  const environment = { LOG_LEVEL: "error" };
  const stage = await setStage(t, { upstream, dataDir, databaseUrl, environment });
  const scene: Scene = { stage, dataDir, database, random };
  const names = Object.keys(troubles).filter((name) => database || name !== "databaseAway");
  const counts: Record<string, number> = Object.fromEntries(names.map((name) => [name, 0]));
  const clients = startClients({ ...stage, count: plan.clients, pauseMs: plan.pauseMs });
  const changes = changeKeys(stage, seededRandom(seed + 1), plan.changePauseMs);
  const end = performance.now() + minutes * 60_000;
  // Each failure happens at least once.
  for (let step = 0; step < names.length || performance.now() < end; step++) {
    await wait(random.upTo(plan.calmMsMax));
    const name = (
      step < names.length ? names[step] : random.pick(["kill", ...names])
    ) as keyof typeof troubles;
    await troubles[name](scene);
    counts[name] = (counts[name] ?? 0) + 1;
    if (step % 50 === 49) await stage.signIn().catch(() => {});
  }
  const before = clients.ledger.complete.length;
  await eventually(() => clients.ledger.complete.length >= before + plan.clients);
  const ledger = await clients.stop();
  const keyLedger = await changes.stop();
  const isDone = async () => compare(ledger, await stage.records()).missing === 0;
  await eventually(isDone).catch(() => {});
  await stage.signIn();
  const keys = await checkKeys(stage, keyLedger);
  stage.gateway().child.kill("SIGTERM");
  const exitCode = await stage.gateway().exited;
  const result = {
    ...compare(ledger, await stage.records()),
    complete: ledger.complete.length,
    refused: ledger.errors.get(503) ?? 0,
    broken: ledger.broken,
    ...keys,
    answeredChanges: keyLedger.answered,
    failedChanges: keyLedger.unanswered,
    ...counts,
  };
  t.log(figures(`L6 L8 ${database ? "mariadb" : "sqlite"}`, result));
  return { ...result, exitCode };
}

for (const kind of ["sqlite", "mariadb"] as const) {
  test.serial(
    `${kind}: kills, full disks and failed commits in any order lose nothing answered`,
    async (t) => {
      t.timeout(minutes * 60_000 + 600_000);
      const database = kind === "mariadb" ? await createKillableDatabase(t) : null;
      const folder = await mountSmallDisk(t, isFull ? "256m" : "24m");
      if (!folder) console.error("L8 skipped: mounting a small disk is not allowed here.");
      if (!folder || (kind === "mariadb" && !database)) return t.pass();
      const result = await play(t, folder, database);
      t.is(result.missing, 0, "answered requests without a record");
      t.is(result.duplicated, 0);
      t.is(result.lostChanges, 0, "answered changes of keys");
      t.is(result.revived, 0, "deactivated keys that work again");
      t.true(result.complete > plan.clients && result.answeredChanges > 0);
      return t.is(result.exitCode, 0);
    },
  );
}

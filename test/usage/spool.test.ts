import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { appendFile, mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { spawn } from "node:child_process";
import test from "ava";
import { lockFile } from "../../db/file-lock.ts";
import { decodeRecords } from "../../gateway/usage/recording/shipper.ts";
import { encodeRecord } from "../../gateway/usage/recording/spool.ts";
import type { Database } from "../../db/database.ts";
import { eventually } from "../helpers/eventually.ts";
import { idsIn, openRecorder } from "../helpers/open-recorder.ts";
import { openTestDatabase, usageRow } from "../helpers/open-test-database.ts";
import { createTestFolder } from "../helpers/test-folder.ts";

const bytesOf = (...ids: string[]) => {
  const buffer = Buffer.alloc(4096);
  return Buffer.concat(ids.map((id) => Buffer.from(buffer.subarray(0, encodeRecord(buffer, usageRow(id))))));
};

async function leave(spool: string, name: string, files: Record<string, Buffer>): Promise<void> {
  await mkdir(path.join(spool, name), { recursive: true });
  await writeFile(path.join(spool, `${name}.lock`), "");
  for (const [file, bytes] of Object.entries(files)) await writeFile(path.join(spool, name, file), bytes);
}

test("a record reaches the disk at once and the database soon", async (t) => {
  const database = await openTestDatabase(t, "sqlite");
  const { recorder, spool } = await openRecorder(t, database);
  const row = usageRow("req_1", { apiKeyName: 'Ä "name" 🎉', cost: 2 ** 45 });
  await new Promise<void>((proceed) => recorder.record(row, null, proceed));

  const [folder = ""] = (await readdir(spool)).filter((name) => !name.endsWith(".lock"));
  const file = await readFile(path.join(spool, folder, "0000000001.records"));
  t.deepEqual(decodeRecords(file), { records: [row], tornBytes: 0 });
  await recorder.flush();
  t.deepEqual(await database.read(({ usageRecords }) => usageRecords.find("req_1")), row);
  await recorder.close();
  t.deepEqual(await readdir(spool), [], "nothing is left behind");
});

test("a dead process's records are shipped, except for torn ones", async (t) => {
  const database = await openTestDatabase(t, "sqlite");
  await database.write(({ usageRecords }) => usageRecords.insertAll([usageRow("req_b")]));
  const dataDir = await createTestFolder(t);
  const spool = path.join(dataDir, "spool");
  const torn = bytesOf("req_x").subarray(0, -1);
  const started = Buffer.alloc(3 * 4096);
  const inFlight = (id: string) =>
    usageRow(id, { status: "INTERRUPTED", createdAt: new Date(Date.now() - 500) });
  encodeRecord(started.subarray(0, 4096), inFlight("req_c"));
  encodeRecord(started.subarray(8192), inFlight("req_d"));
  await leave(spool, "one", {
    "0000000001.records": bytesOf("req_a", "req_b"),
    "0000000002.records": Buffer.concat([bytesOf("req_c"), torn]),
    started,
  });
  await leave(spool, "two", { "0000000001.records": Buffer.alloc(100), started: Buffer.alloc(3) });

  const { recorder, log } = await openRecorder(t, database, { dataDir });
  await recorder.adoptLeftovers();
  t.deepEqual(await idsIn(database), ["req_a", "req_b", "req_c", "req_d"]);
  const records = await database.read(({ usageRecords }) => usageRecords.listByKey("key_1", 10));
  t.like(records[0], { id: "req_d", status: "INTERRUPTED" });
  t.true((records[0]?.latencyMs ?? 0) >= 450, "until its process was last seen");
  t.like(records[1], { id: "req_c", status: "SUCCEEDED" }, "it had ended");
  t.regex(log.join("\n"), /torn/);
  await recorder.close();
  t.deepEqual(await readdir(spool), []);
});

test("a torn or changed byte at the end costs only the last record", (t) => {
  const bytes = bytesOf("req_1", "req_2", "req_3");
  const third = bytesOf("req_1", "req_2").length;
  for (let length = third; length < bytes.length; length++) {
    const { records, tornBytes } = decodeRecords(bytes.subarray(0, length));
    t.deepEqual([records.length, tornBytes], [2, length - third]);
  }
  for (let at = third; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    t.true(decodeRecords(changed).records.length === 2, `byte ${at}`);
  }
});

test("records of one turn are written together, and a failing callback blocks no other", async (t) => {
  const { recorder, spool } = await openRecorder(t, await openTestDatabase(t, "sqlite"));
  const ids = Array.from({ length: 300 }, (_, index) => `req_${index}`);
  const inSpool = () => {
    const [folder = ""] = readdirSync(spool).filter((name) => !name.endsWith(".lock"));
    return decodeRecords(readFileSync(path.join(spool, folder, "0000000001.records"))).records;
  };
  // These records exceed the spool's buffer of 64 KiB.
  const seen = ids.map(
    (id) =>
      new Promise<string[]>((resolve) => {
        recorder.record(usageRow(id), null, () => {
          resolve(inSpool().map((record) => record.id));
          if (id === "req_7") throw new Error("The client is not there");
        });
      }),
  );
  for (const idsThen of await Promise.all(seen)) t.deepEqual(idsThen, ids);
});

test("a live process keeps its files, and two that take over do not conflict", async (t) => {
  const database = await openTestDatabase(t, "sqlite");
  const first = await openRecorder(t, database);
  first.recorder.record(usageRow("req_1"), null, () => {});
  const others = await Promise.all([openRecorder(t, database, first), openRecorder(t, database, first)]);
  await leave(first.spool, "dead", { "0000000001.records": bytesOf("req_2", "req_3") });
  await Promise.all(others.map(({ recorder }) => recorder.adoptLeftovers()));
  await Promise.all(others.map(({ recorder }) => recorder.adoptLeftovers()));

  t.deepEqual(await idsIn(database), ["req_2", "req_3"]);
  t.is((await readdir(first.spool)).length, 6, "three folders and their locks");
  await first.recorder.flush();
  t.deepEqual(await idsIn(database), ["req_1", "req_2", "req_3"]);
});

test("an unreadable file of a dead process blocks no other and is logged once", async (t) => {
  const database = await openTestDatabase(t, "sqlite");
  const dataDir = await createTestFolder(t);
  const spool = path.join(dataDir, "spool");
  // Folders in place of files are unreadable even for root.
  await mkdir(path.join(spool, "a.lock"), { recursive: true });
  await leave(spool, "b", { "0000000002.records": bytesOf("req_b") });
  await mkdir(path.join(spool, "b", "0000000001.records"));
  await leave(spool, "c", { "0000000001.records": bytesOf("req_c") });
  const { recorder, log } = await openRecorder(t, database, { dataDir });

  await recorder.adoptLeftovers();
  t.deepEqual(await idsIn(database), ["req_c"]);
  await recorder.adoptLeftovers();
  const said = log.filter((line) => line.includes("cannot read usage records"));
  t.is(said.length, 2, said.join(""));
  t.true(said[0]?.includes(path.join(spool, "a")));
  t.true(said[1]?.includes(path.join(spool, "b")));

  await rmdir(path.join(spool, "b", "0000000001.records"));
  await recorder.adoptLeftovers();
  t.deepEqual(await idsIn(database), ["req_b", "req_c"]);
});

test("a lock lasts exactly as long as its process, asleep or not", async (t) => {
  const file = path.join(await createTestFolder(t), "a.lock");
  const module = fileURLToPath(new URL("../../db/file-lock.ts", import.meta.url));
  const script = `import { lockFile } from ${JSON.stringify(module)};
    globalThis.lock = lockFile(${JSON.stringify(file)});
    console.log(globalThis.lock ? "taken" : "refused"); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.teardown(() => child.kill("SIGKILL"));
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  t.is(said.toString().trim(), "taken");
  t.is(lockFile(file), null);
  child.kill("SIGSTOP");
  t.is(lockFile(file), null);
  child.kill("SIGKILL");
  await once(child, "exit");
  const lock = lockFile(file);
  t.truthy(lock);
  t.is(lockFile(file), null, "within a process, too");
  const worker = new Worker(
    `import(${JSON.stringify(module)}).then(({ lockFile }) =>
    require("node:worker_threads").parentPort.postMessage(lockFile(${JSON.stringify(file)}) === null))`,
    { eval: true },
  );
  t.deepEqual(await once(worker, "message"), [true], "and between its threads");
  await worker.terminate();
  lock?.release();
  lockFile(file)?.release();
});

test("without a database records fill limited files, then requests are refused", async (t) => {
  const database = await openTestDatabase(t, "sqlite", { operationTimeoutMs: 250 });
  const limits = { usageSegmentBytesMax: 2_000, usageSpoolBytesMax: 20_000, usageBatchRecordsMax: 10 };
  const { recorder, spool } = await openRecorder(t, database, { limits, isSynced: true });
  const { promise, resolve } = Promise.withResolvers<void>();
  t.teardown(resolve);
  await hold(database, promise);
  const ids: string[] = [];
  while (!recorder.isFull) {
    ids.push(`req_${String(ids.length).padStart(4, "0")}`);
    recorder.record(usageRow(ids.at(-1) ?? ""), null, () => {});
    await recorder.flush();
  }
  t.true(ids.length > 30 && ids.length < 50, `${ids.length}`);
  const files = await readdir(spool, { recursive: true });
  t.true(files.filter((name) => name.endsWith(".records")).length >= 8);
  resolve();
  await eventually(async () => {
    await recorder.flush();
    return !recorder.isFull && (await idsIn(database)).length === ids.length;
  });
  t.deepEqual(await idsIn(database), ids);
});

test("a file is deleted once it is shipped, and ended requests are dropped", async (t) => {
  const database = await openTestDatabase(t, "sqlite");
  const { recorder, spool } = await openRecorder(t, database, { limits: { usageSegmentAgeMsMax: 1 } });
  const started = recorder.start(() => usageRow("req_1", { status: "INTERRUPTED" }));
  const filesNow = async () => (await readdir(spool, { recursive: true })).map((name) => path.basename(name));
  await eventually(async () => (await filesNow()).includes("started"));
  recorder.record(usageRow("req_1"), started, () => {});
  t.true((await filesNow()).includes("0000000001.records"));
  await eventually(async () => {
    await recorder.flush();
    return !(await filesNow()).includes("0000000001.records");
  });
  const folder = (await filesNow()).find((name) => /^process_\d+$/.test(name)) ?? "";
  const slots = await readFile(path.join(spool, folder, "started"));
  t.deepEqual([...slots.subarray(0, 8)], [0, 0, 0, 0, 0, 0, 0, 0]);
  recorder.record(usageRow("req_2"), null, () => {});
  await recorder.flush();
  t.deepEqual(await idsIn(database), ["req_1", "req_2"]);
});

test("a dead process's records are kept without a database and shipped later", async (t) => {
  const database = await openTestDatabase(t, "sqlite", { operationTimeoutMs: 250 });
  const dataDir = await createTestFolder(t);
  const spool = path.join(dataDir, "spool");
  await leave(spool, "dead", { "0000000001.records": bytesOf("req_1") });
  await appendFile(path.join(spool, "dead", "started"), bytesOf("req_2"));
  const { promise, resolve } = Promise.withResolvers<void>();
  t.teardown(resolve);
  await hold(database, promise);
  const { recorder } = await openRecorder(t, database, { dataDir });
  await recorder.adoptLeftovers();
  t.true((await readdir(spool)).includes("dead"));
  resolve();
  await eventually(async () => {
    await recorder.adoptLeftovers();
    return !(await readdir(spool)).includes("dead");
  });
  t.deepEqual(await idsIn(database), ["req_1", "req_2"]);
});

/** Occupies the only connection until `promise` resolves. An operation that starts late is refused, so it is repeated. */
async function hold(database: Database, promise: Promise<void>): Promise<void> {
  let isHeld = false;
  await eventually(() => {
    const work = () => {
      isHeld = true;
      return promise;
    };
    database.read(work).catch(() => {});
    return new Promise<boolean>((resolve) => setImmediate(() => resolve(isHeld)));
  });
}

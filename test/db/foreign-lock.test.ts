import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { rename } from "node:fs/promises";
import test from "ava";
import { Database } from "../../db/database.ts";
import { eventually, hangMs } from "../helpers/eventually.ts";
import { openDatabaseAt, openTestDatabase, usageRow, userRow } from "../helpers/open-test-database.ts";
import { createMigratedDatabase } from "../helpers/test-database.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { startTestGateway, usageOf } from "../helpers/test-gateway.ts";
import { readMetrics } from "../metrics/read-metrics.ts";
import { SideThread } from "../../db/side/side-thread.ts";
import { FairQueue } from "../../db/side/fair-queue.ts";
import { lockSqlite } from "./lock-sqlite.ts";

test.serial("sqlite: a write that times out at a foreign lock never happens later", async (t) => {
  const url = await createMigratedDatabase(t, "sqlite");
  const database = await openDatabaseAt(t, url, { operationTimeoutMs: 2_000 });
  const other = lockSqlite(t, url);
  const insert = (id: string) => database.write(({ users }) => users.insert(userRow(id)));
  const results = await Promise.allSettled([insert("usr_1"), insert("usr_2")]);
  const errors = results.map((result) => result.status === "rejected" && (result.reason as Error).name);
  t.deepEqual(errors, ["DatabaseUnavailableError", "DatabaseUnavailableError"]);
  t.not(database.writeHealth.trouble, null);
  other.exec("ROLLBACK");
  await insert("usr_3");
  t.is(database.writeHealth.trouble, null);
  t.is(await database.read(({ users }) => users.count()), 1);
});

test.serial("sqlite: a small write clears the failure without other writes", async (t) => {
  const url = await createMigratedDatabase(t, "sqlite");
  const database = await openDatabaseAt(t, url, { operationTimeoutMs: 2_000 });
  const changes: (string | null)[] = [];
  database.writeHealth.onChange = (error) => void changes.push(error && error.message);
  const other = lockSqlite(t, url);
  for (let time = 0; time < 3; time++) {
    await t.throwsAsync(database.write(({ users }) => users.insert(userRow("usr_1"))));
  }
  other.exec("ROLLBACK");
  await eventually(() => database.writeHealth.trouble === null);
  t.is(changes.length, 2, "one report each, not one per write");
});

const holdLock = `
  import Sqlite from "better-sqlite3";
  const database = new Sqlite(process.argv[1]);
  database.exec("BEGIN EXCLUSIVE");
  console.log("locked");
  process.stdin.resume().on("end", () => { database.exec("ROLLBACK"); process.exit(); });
`;

test.serial("sqlite: while another process locks the database, the gateway answers", async (t) => {
  const upstream = await createUpstream(t, (_request, response) => sendCompletion(response));
  const url = await createMigratedDatabase(t, "sqlite");
  const environment = { DATABASE_URL: url, DATABASE_TIMEOUT_MS: "5000", METRICS_PORT: "0" };
  const gateway = await startTestGateway(t, { environment });
  const { id, value, model } = await connectUpstream(gateway, upstream);
  const chat = () => postChat(gateway, value, chatBody(model));
  const readiness = async () => {
    const response = await fetch(`${gateway.url}/readyz`);
    return { status: response.status, text: await response.text() };
  };
  const failing = async () => (await readMetrics(gateway.metricsUrl)).get("gateway_database_writes_failing");
  t.is((await chat()).status, 200);
  t.is((await readiness()).status, 200);
  t.is(await failing(), 0);

  const other = spawn(
    process.execPath,
    ["--input-type=module", "--eval", holdLock, url.slice("sqlite:".length)],
    {
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  t.teardown(() => other.kill("SIGKILL"));
  await once(other.stdout, "data");
  let answered = 0;
  let slowestMs = 0;
  const timed = async (ask: () => Promise<unknown>) => {
    const begin = performance.now();
    await ask();
    slowestMs = Math.max(slowestMs, performance.now() - begin);
  };
  await eventually(async () => {
    await timed(async () => t.is((await fetch(`${gateway.url}/healthz`)).status, 200));
    await timed(async () => t.is((await chat()).status, 200));
    return ++answered >= 20 && (await readiness()).status === 503;
  });
  // A driver that waits in the event loop holds every answer for its whole busy timeout, 5 s.
  t.true(slowestMs < 3_000, `${slowestMs} ms`);
  t.regex((await readiness()).text, /The last write to the database failed/);
  t.is(await failing(), 1);

  other.stdin.end();
  await once(other, "exit");
  await eventually(async () => (await readiness()).status === 200 && (await failing()) === 0);
  t.true(await eventually(async () => (await usageOf(gateway, id)).length >= Math.min(answered + 1, 100)));
});

const endless =
  "WITH RECURSIVE counter(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM counter) SELECT COUNT(*) FROM counter";

test("a statement that never returns delays neither its question nor the exit", async (t) => {
  const url = await createMigratedDatabase(t, "sqlite");
  // A reader cannot create the files of the write-ahead log.
  await openDatabaseAt(t, url);
  const script = `
    const { SideThread } = await import(${JSON.stringify(import.meta.resolve("../../db/side/side-thread.ts"))});
    const thread = new SideThread(${JSON.stringify(url.slice("sqlite:".length))});
    await thread.open();
    const question = thread.read(${JSON.stringify(endless)}, [], () => {}).catch(({ name }) => name);
    setTimeout(() => thread.stop(), 2_000);
    console.log(await question);
    console.log(await thread.read("SELECT 1", [], () => {}).catch(({ message }) => message));
    await thread.close();
    console.log("closed");
    process.exit();`;
  const child = spawn(process.execPath, ["--eval", script], { stdio: "pipe" });
  t.teardown(() => child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += String(text)));
  await once(child, "close");
  const busy = "The thread that reads the database still ends. Repeat the question in a moment.";
  t.is(output, `DatabaseUnavailableError\n${busy}\nclosed\n`);
});

test("a question after an idle thread's end starts the next thread", async (t) => {
  const url = await createMigratedDatabase(t, "sqlite");
  // A reader cannot create the files of the write-ahead log.
  await openDatabaseAt(t, url);
  const thread = new SideThread(url.slice("sqlite:".length));
  t.teardown(() => thread.close());
  for (let round = 0; round < 3; round++) {
    let rows: unknown[][] = [];
    await thread.read("SELECT 1", [], (part) => (rows = part.rows));
    t.deepEqual(rows, [[1]]);
    thread.stop();
  }
});

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
  const asking = database.ask(null, ({ changes }) => changes.append("api_key", "key_1", new Date()));
  await t.throwsAsync(asking, { name: "DatabaseUnavailableError" });
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
  const asking = database.ask(null, ({ users }) => users.count());
  await t.throwsAsync(asking, { name: "DatabaseUnavailableError" });
  await rename(`${path}-away`, path);
  t.is(await database.ask(null, ({ users }) => users.count()), 0);
});

test("a closed database refuses questions", async (t) => {
  const url = await createMigratedDatabase(t, "sqlite");
  const limits = { connectionsMax: 1, connectTimeoutMs: hangMs, operationTimeoutMs: hangMs };
  const database = await Database.open(url, limits);
  await database.migrate();
  t.is(await database.ask(null, ({ users }) => users.count()), 0);
  await database.close();
  const asking = database.ask(null, ({ users }) => users.count());
  await t.throwsAsync(asking, { name: "DatabaseUnavailableError" });
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

import { spawn } from "node:child_process";
import { once } from "node:events";
import test from "ava";
import { SideThread } from "../../db/side/side-thread.ts";
import { openDatabaseAt } from "../helpers/open-test-database.ts";
import { createMigratedDatabase } from "../helpers/test-database.ts";

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
    setTimeout(() => thread.stop(), 100);
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

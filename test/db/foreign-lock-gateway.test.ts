import { spawn } from "node:child_process";
import { once } from "node:events";
import test from "ava";
import { eventually } from "../helpers/eventually.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { startTestGateway, usageOf } from "../helpers/test-gateway.ts";
import { createMigratedDatabase } from "../helpers/test-database.ts";
import { readMetrics } from "../metrics/read-metrics.ts";

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

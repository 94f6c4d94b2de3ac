import { copyFile, rename } from "node:fs/promises";
import path from "node:path";
import { Agent, type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { once } from "node:events";
import test, { type ExecutionContext } from "ava";
import { compare, startClients } from "../chaos/clients.ts";
import { createModelUpstream } from "../chaos/model-upstream.ts";
import { setStage, type Stage } from "../chaos/stage.ts";
import { eventually } from "../helpers/eventually.ts";
import { freePort } from "../helpers/free-port.ts";
import { type GatewayProcess, startGatewayProcess } from "../helpers/gateway-process.ts";
import { openStream } from "../helpers/open-chat.ts";
import { chatBody } from "../helpers/post-chat.ts";
import { createMigratedDatabase, createServerDatabase, serverKind } from "../helpers/test-database.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { signIn } from "../helpers/test-gateway.ts";

// Several workers require MySQL or MariaDB.
const mysqlTest = serverKind ? test.serial : test.serial.skip;

async function setUp(t: ExecutionContext): Promise<Stage> {
  const upstream = await createModelUpstream(t);
  const databaseUrl = await createMigratedDatabase(t, serverKind);
  const environment = { WORKERS: "2", LOG_LEVEL: "info" };
  const stage = await setStage(t, { upstream, databaseUrl, dataDir: await createTestFolder(t), environment });
  // A change made through one worker reaches the other a moment later.
  await eventually(async () => {
    const asked = await Promise.all([1, 2, 3, 4].map(() => keepConnection(t, stage).ask(stage.model)));
    return asked.every(({ status }) => status === 200);
  });
  return stage;
}

/** Returns current and former worker processes in the order of their starts. */
function workersOf(stage: Stage): ServingWorker[] {
  return workersIn(stage.gateway());
}

function workersIn(gateway: GatewayProcess): ServingWorker[] {
  const lines = gateway.stderr().split("\n").slice(0, -1);
  return lines
    .filter((line) => line.includes('"a worker started"'))
    .map((line) => JSON.parse(line) as ServingWorker);
}

type ServingWorker = { worker: number; pid: number };

function kill(worker: ServingWorker | undefined, signal: NodeJS.Signals): void {
  if (!worker) throw new Error("There is no such worker");
  process.kill(worker.pid, signal);
}

function keepConnection(t: ExecutionContext, { url, key }: Stage) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const ask = async (model: string): Promise<Answer> => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const asking = request(`${url}/v1/chat/completions`, { method: "POST", agent, headers });
    asking.end(JSON.stringify(chatBody(model)));
    const [answer] = (await once(asking, "response")) as [IncomingMessage];
    answer.resume();
    await once(answer, "end");
    return { status: answer.statusCode, socket: asking.socket };
  };
  return { ask };
}

type Answer = { status: number | undefined; socket: Socket | null };

mysqlTest("every worker refuses a deactivated key within a second", async (t) => {
  const stage = await setUp(t);
  const { model, console, gateway } = stage;
  t.is(gateway().stdout().split("listening at").length, 2, "the welcome is printed once");
  const clients = Array.from({ length: 16 }, () => keepConnection(t, stage));
  const first: Answer[] = [];
  for (const { ask } of clients) first.push(await ask(model));
  t.deepEqual(
    first.map(({ status }) => status),
    Array(16).fill(200),
  );

  const { items } = await console.keys.list.query({});
  for (const { id } of items) await console.keys.deactivate.mutate({ id });
  const deactivatedAt = performance.now();
  await Promise.all(clients.map(({ ask }) => eventually(async () => (await ask(model)).status === 401)));
  const tookMs = performance.now() - deactivatedAt;
  t.true(tookMs <= 1_000, `${tookMs} ms`);

  // A worker's death closes only the worker's own connections.
  kill(workersOf(stage)[0], "SIGKILL");
  const isLeft = ({ socket }: Answer) => socket?.destroyed === false;
  const left = await eventually(() => {
    const count = first.filter(isLeft).length;
    return count < 16 && count;
  });
  t.true(left > 0, `${left} of 16 connections are left`);
});

mysqlTest("a worker killed under load is replaced, and no record is lost", async (t) => {
  const stage = await setUp(t);
  const { url, key, model } = stage;
  const clients = startClients({ url, key, model, count: 8, pauseMs: 10 });
  const answered = (more: number) => {
    const before = clients.ledger.complete.length;
    return eventually(() => clients.ledger.complete.length >= before + more);
  };
  await answered(40);
  const [first, second] = workersOf(stage);
  kill(second, "SIGKILL");
  await answered(20);
  const replaced = await eventually(() => workersOf(stage)[2]);
  t.is(replaced.worker, 2);
  await answered(20);
  kill(first, "SIGTERM");
  t.is((await eventually(() => workersOf(stage)[3])).worker, 1);
  await answered(20);

  const ledger = await clients.stop();
  await eventually(async () => compare(ledger, await stage.records()).missing === 0);
  t.is(compare(ledger, await stage.records()).duplicated, 0);
  t.deepEqual([...ledger.errors], [], "nothing was answered with an error");
  // Only requests on a dying worker, or newly assigned to it, break.
  t.true(ledger.broken <= 16, `${ledger.broken} broken`);

  stage.gateway().child.kill("SIGTERM");
  t.is(await stage.gateway().exited, 0, stage.gateway().stderr());
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  mysqlTest(`${signal} to all processes drains the streams of every worker and exits 0`, async (t) => {
    const stage = await setUp(t);
    const { child, exited, stderr } = stage.gateway();
    const prompt = "/slow 150 one two three four five six seven";
    const { value: key } = await stage.console.keys.create.mutate({ name: "demo", models: ["demo/echo"] });
    const streams = await Promise.all([1, 2, 3, 4].map(() => openStream(stage, key, prompt)));

    child.kill(signal);
    for (const worker of workersOf(stage)) kill(worker, signal);

    t.deepEqual(await Promise.all(streams.map(({ ended }) => ended)), [true, true, true, true]);
    for (const { text } of streams) t.true(text().endsWith("data: [DONE]\n\n"), text().slice(-200));
    t.is(await exited, 0, stderr());
    t.false(stderr().includes("is being replaced"), stderr());
  });
}

mysqlTest("SIGTERM while other workers start drains the streams of the first one", async (t) => {
  const demo = { ADMIN_EMAIL: "ada@example.com", ADMIN_PASSWORD: "correct horse battery" };
  const environment = {
    PORT: String(await freePort()),
    DATA_DIR: await createTestFolder(t),
    ...demo,
    DATABASE_URL: await createServerDatabase(t),
    MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
    JWT_SECRET: "x".repeat(40),
    LOG_LEVEL: "info",
  };
  const before = startGatewayProcess(t, environment);
  const url = await before.listening();
  const { keys } = await signIn(url, { email: demo.ADMIN_EMAIL, password: demo.ADMIN_PASSWORD });
  const { value } = await keys.create.mutate({ name: "K", models: ["demo/echo"] });
  before.child.kill("SIGTERM");
  await before.exited;

  const { child, exited, stderr } = startGatewayProcess(t, { ...environment, WORKERS: "2" });
  await eventually(() => stderr().includes("a worker started"));
  const stream = await openStream({ url }, value, "/slow 100 one two three four");
  child.kill("SIGTERM");
  t.true(await stream.ended);
  t.true(stream.text().endsWith("data: [DONE]\n\n"));
  t.is(await exited, 0, stderr());
});

mysqlTest("a worker that cannot restart does not affect the others", async (t) => {
  const folder = await createTestFolder(t);
  const node = path.join(folder, "node");
  await copyFile(process.execPath, node);
  const gateway = startGatewayProcess(t, {
    WORKERS: "2",
    PORT: String(await freePort()),
    DATA_DIR: folder,
    LOG_LEVEL: "info",
    DATABASE_URL: await createServerDatabase(t),
    JWT_SECRET: "x".repeat(40),
    MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
    TEST_NODE: node,
  });
  const url = await gateway.listening();
  const [first] = workersIn(gateway);
  await rename(node, `${node}.old`);
  kill(first, "SIGKILL");
  await eventually(() => gateway.stderr().includes("cannot start or reach a worker"));
  t.is((await fetch(`${url}/readyz`)).status, 200);

  await rename(`${node}.old`, node);
  await eventually(() => workersIn(gateway)[2]);
  gateway.child.kill("SIGTERM");
  t.is(await gateway.exited, 0, gateway.stderr());
});

test.serial("a failure of the first worker's start is reported once and ends the process", async (t) => {
  const gateway = startGatewayProcess(t, {
    WORKERS: "2",
    PORT: "0",
    DATA_DIR: await createTestFolder(t),
    DATABASE_URL: `mysql://root@127.0.0.1:${await freePort()}/gateway`,
  });
  t.is(await gateway.exited, 1);
  t.is(gateway.stdout(), "");
  t.is(gateway.stderr().split("Check DATABASE_URL").length, 2, gateway.stderr());
});

import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import test, { type ExecutionContext } from "ava";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { eventually, hangMs, succeeds } from "../helpers/eventually.ts";
import { type GatewayProcess, startGatewayProcess } from "../helpers/gateway-process.ts";
import {
  beginStream,
  chunkEvent,
  createUpstream,
  doneEvent,
  usageEvent,
} from "../helpers/scripted-upstream.ts";
import { createServerDatabase, serverKind } from "../helpers/test-database.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { patience, signIn } from "../helpers/test-gateway.ts";
import { startBalancer } from "./balancer.ts";
import { compare, startClients } from "./clients.ts";
import { openStream } from "../helpers/open-chat.ts";
import { recordedRequests } from "../helpers/recorded-requests.ts";
import { figures, isFull } from "../helpers/scale.ts";

const plan = isFull
  ? { machines: 3, restarts: 6, clients: 48, words: 160 }
  : { machines: 2, restarts: 1, clients: 6, words: 30 };

const mysqlTest = serverKind ? test.serial : test.serial.skip;

const heldPrompt = "Hold this stream";

/**
 * Starts gateways behind a balancer. The gateways share the database and the secrets, but no data folder. The
 * functions in `held` end the streams with `heldPrompt`.
 */
async function setUp(t: ExecutionContext, more: Record<string, string>) {
  const held: (() => void)[] = [];
  const upstream = await createUpstream(t, async ({ body }, response) => {
    beginStream(response);
    if (body.includes(heldPrompt)) {
      response.write(chunkEvent(" word"));
      return void held.push(() => response.end(usageEvent + doneEvent));
    }
    // Random lengths let requests start and end at any moment.
    const words = Math.ceil(plan.words * Math.random());
    for (let word = 0; word < words; word++) {
      response.write(chunkEvent(" word"));
      await wait(25);
    }
    response.end(usageEvent + doneEvent);
  });
  const admin = { email: "ada@example.com", password: randomBytes(12).toString("hex") };
  const environment = {
    PORT: "0",
    DATABASE_URL: await createServerDatabase(t),
    MASTER_KEY: randomBytes(32).toString("base64"),
    JWT_SECRET: randomBytes(32).toString("base64"),
    ADMIN_EMAIL: admin.email,
    ADMIN_PASSWORD: admin.password,
    UPSTREAM_PRIVATE_HOSTS: "*",
    LOG_LEVEL: "warn",
    // The balancer has this time to notice, and the streams that time to end.
    STOP_DELAY_MS: "15000",
    DRAIN_TIMEOUT_MS: String(hangMs),
    ...patience,
    ...more,
  };
  const start = async (dataDir: string): Promise<Machine> => {
    const process = startGatewayProcess(t, { ...environment, DATA_DIR: dataDir });
    return { dataDir, process, url: await process.listening() };
  };
  const balancer = await startBalancer(t);
  const machines: Machine[] = [];
  for (let count = 0; count < plan.machines; count++) {
    machines.push(await start(await createTestFolder(t)));
  }
  const [{ url } = { url: "" }] = machines;
  const { value: key, model } = await connectUpstream({ admin: await signIn(url, admin) }, upstream);
  for (const machine of machines) {
    await eventually(() => knowsModel(machine, key, model));
    await balancer.add(machine.url);
  }
  return { balancer, machines, start, key, model, held, databaseUrl: environment.DATABASE_URL };
}

type Machine = { dataDir: string; process: GatewayProcess; url: string };

async function knowsModel({ url }: Machine, key: string, model: string): Promise<boolean> {
  const answer = await fetch(`${url}/v1/models/${model}`, { headers: { authorization: `Bearer ${key}` } });
  await answer.arrayBuffer();
  return answer.status === 200;
}

/** Whether the machine refuses new connections. */
async function isClosed({ url }: Machine): Promise<boolean> {
  return !(await succeeds(fetch(`${url}/healthz`, { method: "HEAD", headers: { connection: "close" } })));
}

async function restartUnderLoad(t: ExecutionContext, environment: Record<string, string> = {}) {
  t.timeout(600_000);
  const { balancer, machines, start, key, model, held, databaseUrl } = await setUp(t, environment);
  const clients = startClients({ url: balancer.url, key, model, count: plan.clients, onlyStreams: true });
  const exitCodes = new Set<number | null>();
  let cut = 0;
  for (let restart = 0; restart < plan.restarts; restart++) {
    const index = restart % machines.length;
    const machine = machines[index];
    if (!machine) break;
    const before = clients.ledger.complete.length;
    await eventually(() => clients.ledger.complete.length >= before + plan.clients);
    const stream = await openStream(machine, key, heldPrompt, model);
    machine.process.child.kill("SIGTERM");
    // The stream outlasts the stop delay, so that only the drain waits for it.
    await eventually(() => isClosed(machine));
    for (const end of held.splice(0)) end();
    await stream.ended;
    if (!stream.text().endsWith(doneEvent)) cut++;
    exitCodes.add(await machine.process.exited);
    balancer.remove(machine.url);
    machines[index] = await start(machine.dataDir);
    await balancer.add(machines[index].url);
  }
  const ledger = await clients.stop();
  for (const { process } of machines) process.child.kill("SIGTERM");
  for (const { process } of machines) exitCodes.add(await process.exited);
  const records = await recordedRequests(databaseUrl);
  const result = {
    ...compare(ledger, records),
    complete: ledger.complete.length,
    broken: ledger.broken + cut,
    errors: [...ledger.errors.values()].reduce((sum, count) => sum + count, 0),
    notSucceeded: records.filter(({ status }) => status !== "SUCCEEDED").length,
    exitCodes: [...exitCodes].join(),
  };
  t.log(figures(`L7, ${plan.restarts} restarts`, result));
  return result;
}

mysqlTest("a rolling restart fails no request and cuts no stream", async (t) => {
  const result = await restartUnderLoad(t);
  t.like(result, { broken: 0, errors: 0, missing: 0, duplicated: 0, notSucceeded: 0, exitCodes: "0" });
  t.true(result.complete >= plan.restarts * plan.clients);
});

const negativeControl = isFull ? mysqlTest : test.serial.skip;

negativeControl("negative control: a gateway that does not drain its streams", async (t) => {
  const result = await restartUnderLoad(t, { DRAIN_TIMEOUT_MS: "1" });
  t.true(result.broken > 0);
});

negativeControl("negative control: a gateway that closes its port before the balancer notices", async (t) => {
  const result = await restartUnderLoad(t, { STOP_DELAY_MS: "0" });
  t.true(result.broken > 0);
});

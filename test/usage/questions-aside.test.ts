import { monitorEventLoopDelay } from "node:perf_hooks";
import Sqlite from "better-sqlite3";
import test, { type ExecutionContext } from "ava";
import { readConfig } from "../../gateway/config/config.ts";
import { createLog } from "../../gateway/log.ts";
import { systemRuntime } from "../../gateway/runtime.ts";
import { startGateway } from "../../gateway/start/start-gateway.ts";
import { fillHistory } from "../bench/usage-rows.ts";
import { askHistory } from "../helpers/ask-history.ts";
import { isFull } from "../helpers/scale.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { administrator, createConsoleClient } from "../helpers/test-gateway.ts";

const dayMs = 86_400_000;
const summary = "apiKeyId model requests inputTokens outputTokens costUsd p95DurationMs";
const documents = {
  page: "{ usageRecords(first: 50) { edges { node { id model costUsd } } } }",
  "rare page": "{ usageRecords(filter: { status: FAILED, minLatencyMs: 100 }) { edges { node { id } } } }",
  "whole page":
    "{ usageRecords(first: 500) { edges { node { id createdAt model provider costUsd latencyMs } } } }",
  record: '{ usageRecord(id: "req_1") { id } }',
  "by model": `{ usageSummary(groupBy: [MODEL]) { ${summary} } }`,
  "by key and model": `{ usageSummary(groupBy: [API_KEY, MODEL]) { ${summary} } }`,
  "by day": `{ usageSummary(groupBy: [PROVIDER], interval: DAY) { ${summary} } }`,
};

test("on SQLite, no question about the history runs in the thread that relays streams", async (t) => {
  const { url, accessToken, console: client } = await start(t, isFull ? 1_000_000 : 2_000);
  const questions: Record<string, () => Promise<unknown>> = {
    ...Object.fromEntries(
      Object.entries(documents).map(([name, document]) => [
        name,
        async () => t.deepEqual((await askHistory({ url }, accessToken, document)).errors, []),
      ]),
    ),
    onboarding: () => client.overview.onboarding.query(),
    overview: () => client.overview.get.query({ period: "30d" }),
    top: () => client.overview.top.query({ period: "30d" }),
    spending: () => client.overview.spending.query(),
    "keys that need attention": () => client.overview.keys.query(),
    "audit log": () => client.audit.list.query({}),
  };
  const delays = monitorEventLoopDelay({ resolution: 10 });
  for (const [name, ask] of Object.entries(questions)) {
    const here: string[] = [];
    const { prepare } = Sqlite.prototype;
    Sqlite.prototype.prepare = new Proxy(prepare, {
      apply(target, connection, [sql]: [string]) {
        if (historySelect.test(sql)) here.push(sql);
        return Reflect.apply(target, connection, [sql]);
      },
    });
    try {
      await ask();
    } finally {
      Sqlite.prototype.prepare = prepare;
    }
    t.deepEqual(here, [], name);
    for (const count of [1, 6]) {
      delays.reset();
      delays.enable();
      const startedAt = performance.now();
      for (let round = 0; round < (isFull ? 3 : 1); round++)
        await Promise.all(Array.from({ length: count }, ask));
      const ms = Math.round(performance.now() - startedAt);
      delays.disable();
      if (isFull) {
        const [p99, max] = [delays.percentile(99), delays.max].map((ns) => (ns / 1e6 - 10).toFixed(1));
        t.log(`${name}, ${count} at once: ${ms} ms, event loop p99 +${p99} ms, max +${max} ms`);
      }
    }
  }
});

const historySelect = /SELECT.*FROM\W+(usage_records|usage_roll_ups|provider_half_hours|audit_entries)/s;

async function start(t: ExecutionContext, rows: number) {
  const folder = await createTestFolder(t);
  const environment = { DATABASE_URL: `sqlite:${folder}/gateway.db`, DATA_DIR: folder, PORT: "0" };
  const runtime = systemRuntime(createLog("silent", { write: () => {} }));
  const gateway = await startGateway(readConfig(environment), runtime);
  t.teardown(() => gateway.close());
  const { database, accounts } = gateway.services;
  const now = Date.now();
  const filling = { rows, from: now - 30 * dayMs, to: now, batchRows: 2_000, cpuUs: () => 0, say: () => {} };
  await fillHistory(database, filling);
  const { auth } = createConsoleClient(gateway.url);
  const { accessToken } = await auth.setUp.mutate({ token: accounts.setUpToken, ...administrator });
  return { url: gateway.url, accessToken, console: createConsoleClient(gateway.url, accessToken) };
}

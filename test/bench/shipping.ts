import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import mysql from "mysql2/promise";
import { readConfig } from "../../gateway/config/config.ts";
import { createId } from "../../gateway/ids.ts";
import { createLog, standardLogDestination } from "../../gateway/log.ts";
import { systemRuntime } from "../../gateway/runtime.ts";
import { startGateway } from "../../gateway/start/start-gateway.ts";
import { provideMariadb } from "../helpers/mariadb-programs.ts";
import { startDatabaseServer } from "../helpers/database-server.ts";
import { usageRow } from "../helpers/open-test-database.ts";
import { recordedRequests } from "../helpers/recorded-requests.ts";
import { administrator, createConsoleClient } from "../helpers/test-gateway.ts";
import { machineFacts } from "./report.ts";

/** Measures how fast usage records reach each database under load. Returns one line per database. */
export async function benchShipping(records = 100_000): Promise<string[]> {
  const lines: string[] = [];
  const folder = mkdtempSync(path.join(tmpdir(), "gateway-shipping-"));
  const programs = provideMariadb(console.log);
  const mariadb = programs ? await startDatabaseServer(programs) : null;
  try {
    lines.push(await ship("SQLite", `sqlite:${folder}/gateway.db`, path.join(folder, "sqlite"), records));
    if (mariadb) {
      const connection = await mysql.createConnection(mariadb.url);
      await connection.query("CREATE DATABASE shipping");
      await connection.end();
      lines.push(await ship("MariaDB", `${mariadb.url}/shipping`, path.join(folder, "mariadb"), records));
    }
  } finally {
    await mariadb?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return lines;
}

async function ship(name: string, databaseUrl: string, dataDir: string, count: number): Promise<string> {
  const runtime = systemRuntime(createLog("warn", standardLogDestination()));
  const config = readConfig({ PORT: "0", DATA_DIR: dataDir, DATABASE_URL: databaseUrl });
  const gateway = await startGateway(config, runtime);
  try {
    const { recorder } = gateway.services;
    const client = await connectClient(gateway);
    const rows = (much: number) => Array.from({ length: much }, () => usageRow(createId("req", runtime)));
    // These records are not measured, because the first runs also compile the code.
    for (const row of rows(5_000)) recorder.record(row, null, () => {});
    await recorder.flush();

    const waiting = rows(count);
    const serving = client.askUntilStopped();
    const cpuBefore = process.cpuUsage();
    const startedAt = performance.now();
    for (const [index, row] of waiting.entries()) {
      recorder.record(row, null, () => {});
      if (index % 1_000 === 999) await nextTurn();
    }
    const spooledMs = performance.now() - startedAt;
    await recorder.flush();
    const tookMs = performance.now() - startedAt;
    const { user, system } = process.cpuUsage(cpuBefore);
    const latencies = (await serving.stop()).toSorted((left, right) => left - right);
    await recorder.flush();

    const there = (await recordedRequests(databaseUrl)).length;
    const expected = count + 5_000 + latencies.length;
    if (there !== expected) throw new Error(`${expected} records were made, but ${there} are in ${name}.`);
    const perSecond = Math.round((count / tookMs) * 1_000).toLocaleString("en");
    const p95 = latencies[Math.floor(latencies.length * 0.95)] ?? Number.NaN;
    const cpuUs = ((user + system) / count).toFixed(1);
    return `${name}: ${perSecond} records/s from recorded to inserted (in the spool after ${Math.round(spooledMs)} ms, all of them after ${Math.round(tookMs)} ms; ${cpuUs} µs of the gateway's CPU each), ${latencies.length} requests answered meanwhile, p95 ${p95.toFixed(0)} ms`;
  } finally {
    await gateway.close();
  }
}

async function connectClient({ url, services }: Awaited<ReturnType<typeof startGateway>>) {
  const { auth } = createConsoleClient(url);
  const session = await auth.setUp.mutate({ token: services.accounts.setUpToken, ...administrator });
  const admin = createConsoleClient(url, session.accessToken);
  const { value } = await admin.keys.create.mutate({ name: "Benchmark", models: ["demo/echo"] });
  const ask = async () => {
    const startedAt = performance.now();
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${value}` },
      body: JSON.stringify({ model: "demo/echo", messages: [{ role: "user", content: "Hello" }] }),
    });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`A request was answered with ${response.status}.`);
    return performance.now() - startedAt;
  };
  return {
    askUntilStopped() {
      const stopping = new AbortController();
      const latencies: number[] = [];
      const asking = (async () => {
        while (!stopping.signal.aborted) latencies.push(await ask());
      })();
      return {
        async stop() {
          stopping.abort();
          await asking;
          return latencies;
        },
      };
    },
  };
}

if (import.meta.main) {
  for (const line of await benchShipping()) console.log(line);
  console.log(machineFacts());
}

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import mysql from "mysql2/promise";
import { readConfig } from "../../gateway/config/config.ts";
import { createLog } from "../../gateway/log.ts";
import { systemRuntime } from "../../gateway/runtime.ts";
import { startGateway } from "../../gateway/start/start-gateway.ts";
import { assertRollUpsMatch } from "../helpers/assert-roll-ups-match.ts";
import { provideMariadb } from "../helpers/mariadb-programs.ts";
import { startDatabaseServer } from "../helpers/database-server.ts";
import { provideMysql } from "../helpers/mysql-programs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { administrator, createConsoleClient } from "../helpers/test-gateway.ts";
import { databaseCpu } from "./database-cpu.ts";
import { formatTable, machineFacts } from "./report.ts";
import { askDomain, questions, toGraphql } from "./usage-questions.ts";
import { fillHistory } from "./usage-rows.ts";

/**
 * Measures the usage history on SQLite, MariaDB and MySQL: the write rate, and queries with and without HTTP.
 * Usage: `npm run bench:usage [-- --rows 10000000] [--only sqlite] [--batch 500]`
 */
async function bench(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rows: { type: "string", default: "1000000" },
      batch: { type: "string", default: "2000" },
      only: { type: "string" },
    },
  });
  const sizes = { rows: Number(values.rows), batchRows: Number(values.batch) };
  const isWanted = (name: string) => (values.only ?? name) === name;
  const folder = mkdtempSync(path.join(tmpdir(), "gateway-bench-usage-"));
  const table = [["question", "CPU ms", "p50 ms", "p95 ms", "HTTP CPU", "HTTP p50", "HTTP p95"]];
  try {
    if (isWanted("sqlite")) {
      table.push(...(await measure("SQLite", `sqlite:${path.join(folder, "gateway.db")}`, folder, sizes)));
    }
    for (const { name, provide, logSize } of servers) {
      const programs = isWanted(name.toLowerCase()) ? provide(say) : undefined;
      if (!programs) continue;
      const server = await startDatabaseServer(programs);
      try {
        await makeRoom(server.url, logSize);
        table.push(...(await measure(name, `${server.url}/bench`, folder, sizes)));
      } finally {
        await server.stop();
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`\n${sizes.rows.toLocaleString("en")} records; ${machineFacts()}\n\n${formatTable(table)}`);
}

const servers = [
  { name: "MariaDB", provide: provideMariadb, logSize: "innodb_log_file_size" },
  { name: "MySQL", provide: provideMysql, logSize: "innodb_redo_log_capacity" },
];

type Sizes = { rows: number; batchRows: number };

const dayMs = 86_400_000;
const rounds = 100;

async function measure(name: string, url: string, folder: string, sizes: Sizes): Promise<string[][]> {
  const runtime = systemRuntime(createLog("silent", { write: () => {} }));
  const environment = {
    DATABASE_URL: url,
    DATA_DIR: folder,
    PORT: "0",
    DATABASE_TIMEOUT_MS: "60000",
    USAGE_QUERY_TIMEOUT_MS: "60000",
  };
  const gateway = await startGateway(readConfig(environment), runtime);
  try {
    const { database, usageHistory, accounts, sessions } = gateway.services;
    const now = Date.now();
    const cpuUs = await databaseCpu(url);
    say(`${name}: ${await fillHistory(database, { ...sizes, from: now - 30 * dayMs, to: now, cpuUs, say })}`);
    if (sizes.rows <= 1_000_000) await assertRollUpsMatch(url);
    const { auth } = createConsoleClient(gateway.url);
    const { accessToken } = await auth.setUp.mutate({ token: accounts.setUpToken, ...administrator });
    const person = await sessions.authenticate(accessToken);
    const measured: string[][] = [];
    for (const { title, look } of await questions(usageHistory, person, now)) {
      const random = seededRandom(2);
      const inside = await timed(cpuUs, () => askDomain(usageHistory, person, look(random)));
      const outside = await timed(cpuUs, () => post(gateway.url, accessToken, toGraphql(look(random))));
      measured.push([`${name}, ${title}`, ...inside, ...outside]);
      say(measured.at(-1)?.join("  ") ?? "");
    }
    return measured;
  } finally {
    await gateway.close();
  }
}

/** Returns milliseconds: the mean CPU time including the database's, and the median and p95 duration. */
async function timed(cpuUs: () => number, work: () => Promise<unknown>): Promise<string[]> {
  const times: number[] = [];
  let cpuBefore = 0;
  // The first five rounds are not measured, because they fill caches and compile code.
  for (let round = -5; round < rounds; round++) {
    if (round === 0) cpuBefore = cpuUs();
    const startedAt = performance.now();
    await work();
    if (round >= 0) times.push(performance.now() - startedAt);
  }
  const cpuMs = (cpuUs() - cpuBefore) / 1000 / rounds;
  times.sort((one, other) => one - other);
  return [cpuMs, ...[0.5, 0.95].map((share) => times[Math.floor(rounds * share)] ?? 0)].map((ms) =>
    ms.toFixed(1),
  );
}

async function post(url: string, accessToken: string, body: object): Promise<void> {
  const response = await fetch(`${url}/graphql`, {
    method: "POST",
    headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
}

/** A million records need a larger buffer pool and log than the test servers have. */
async function makeRoom(url: string, logSize: string): Promise<void> {
  const connection = await mysql.createConnection(url);
  await connection.query("CREATE DATABASE bench");
  await connection.query("SET GLOBAL innodb_buffer_pool_size = 1073741824");
  await connection.query(`SET GLOBAL ${logSize} = 536870912`);
  await connection.end();
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

await bench();

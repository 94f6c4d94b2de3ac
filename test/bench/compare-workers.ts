import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { eventually } from "../helpers/eventually.ts";
import { startGatewayProcess } from "../helpers/gateway-process.ts";
import { provideMariadb } from "../helpers/mariadb-programs.ts";
import { startDatabaseServer } from "../helpers/database-server.ts";
import { queryDatabase } from "../helpers/query-database.ts";
import type { BenchmarkCase } from "./cases.ts";
import { chatRequest } from "./chat-request.ts";
import type { LoadGenerator } from "./load-generator.ts";
import type { MeasuredProcess } from "./measured-process.ts";
import { setUpGateway } from "./set-up-gateway.ts";

type ComparisonOptions = {
  load: MeasuredProcess<LoadGenerator>;
  upstreamPort: number;
  benchmarkCase: BenchmarkCase;
};

/**
 * Compares the requests per second of two workers and of one, on MariaDB. The load generator and the upstream use
 * the same cores, which reduces the gain.
 */
export async function compareWorkers(options: ComparisonOptions): Promise<string> {
  const programs = provideMariadb(() => {});
  if (!programs) return "Two workers against one: there is no MariaDB here.";
  const closers: (() => unknown)[] = [];
  const t = { teardown: (closer: () => unknown) => void closers.push(closer) };
  try {
    const mariadb = await startDatabaseServer(programs);
    t.teardown(() => mariadb.stop());
    const gateways = [];
    for (const workers of [1, 2]) gateways.push(await startWorkers(t, mariadb.url, workers, options));
    const best = gateways.map(() => 0);
    // Each gateway's best round counts, because noise and cold code only slow rounds down.
    for (let round = 0; round < rounds; round++) {
      for (const [index, run] of gateways.entries()) best[index] = Math.max(best[index] ?? 0, await run());
    }
    const [one = 0, two = 0] = best;
    return `Two workers against one, on MariaDB: ${two.toFixed(0)} and ${one.toFixed(0)} requests/s, ${(two / one).toFixed(2)} times.`;
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

/** Starts a gateway. Returns a function that runs a round and returns requests per second. */
async function startWorkers(
  t: { teardown(closer: () => unknown): void },
  server: string,
  workers: number,
  { load, upstreamPort, benchmarkCase }: ComparisonOptions,
): Promise<() => Promise<number>> {
  await queryDatabase(server, `CREATE DATABASE workers_${workers}`);
  const folder = await mkdtemp(path.join(tmpdir(), "gateway-bench-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const gateway = startGatewayProcess(t, {
    PORT: "0",
    WORKERS: String(workers),
    DATA_DIR: folder,
    DATABASE_URL: Object.assign(new URL(server), { pathname: `workers_${workers}` }).href,
    UPSTREAM_PRIVATE_HOSTS: `127.0.0.1:${upstreamPort}`,
    LOG_LEVEL: "warn",
  });
  const url = await gateway.listening();
  const token = /set-up\?token=(\S+)/.exec(gateway.stdout())?.[1] ?? "";
  const { free: key } = await setUpGateway(url, token, upstreamPort);
  const { slug, stream, clientPath, requestsPerRound: count } = benchmarkCase;
  // Each connection reaches some worker. When all 16 find the model, very likely every worker has loaded it.
  await eventually(async () => {
    const headers = { authorization: `Bearer ${key}`, connection: "close" };
    const asked = Array.from({ length: 16 }, () => fetch(`${url}/v1/models/${slug}`, { headers }));
    return (await Promise.all(asked)).every(({ status }) => status === 200);
  });
  const { port, host } = new URL(url);
  const request = chatRequest({ host, path: clientPath, key, model: slug, stream });
  const { body = "" } = await load.ask("fetch", { port: Number(port), request });
  const expected = benchmarkCase.body.gateway ?? Buffer.byteLength(body);
  return async () => {
    const round = { port: Number(port), request, expected, count, timeoutMs: 60_000 };
    const { durationMs } = await load.ask("run", round);
    return (count / durationMs) * 1_000;
  };
}

const rounds = 6;

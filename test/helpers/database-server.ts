import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "./free-port.ts";

/**
 * Starts MariaDB or MySQL on 127.0.0.1 with a passwordless `root`. The server is empty unless `folder` has data. It
 * also stops if this process is killed (see database-server.sh).
 */
export async function startDatabaseServer(
  { installer, server }: ServerPrograms,
  options: ServerOptions = {},
): Promise<DatabaseServer> {
  const folder = options.folder ?? (await mkdtemp(path.join(await quickFolder(), "gateway-database-")));
  const port = options.port ?? (await freePort());
  const script = path.join(import.meta.dirname, "database-server.sh");
  const after = options.folder === undefined ? "remove" : "keep";
  const newData = options.newData ?? path.join(folder, "new");
  const parameters = [folder, String(port), installer, server, after, newData, ...(options.parameters ?? [])];
  const guard = spawn("sh", [script, ...parameters], {
    stdio: ["pipe", "ignore", "pipe"],
    detached: true,
  });
  const exited = once(guard, "exit");
  const stop = async (): Promise<void> => {
    guard.stdin.end();
    await exited;
  };

  const timer = setTimeout(() => guard.stdin.end(), startTimeoutMs);
  const said: string[] = [];
  // The log is more reliable than a connection attempt, because nock mocks connections in some tests.
  for await (const line of createInterface({ input: guard.stderr })) {
    said.push(line);
    if (!line.includes("ready for connections")) continue;
    clearTimeout(timer);
    guard.stderr.resume();
    return { url: `mysql://root@127.0.0.1:${port}`, port, newData, stop };
  }
  clearTimeout(timer);
  await stop();
  throw new Error(`The database server did not start:\n${said.slice(-20).join("\n")}`);
}

/** Prefers a folder in memory, because creating tables for hundreds of tests on disk is slow. */
async function quickFolder(): Promise<string> {
  const memory = await statfs("/dev/shm").catch(() => null);
  return memory && memory.bavail * memory.bsize >= plentyBytes ? "/dev/shm" : tmpdir();
}

const plentyBytes = 4 * 1024 ** 3;

/**
 * `installer` creates the data, with the parameters of `mariadb-install-db`. `client` and `dump` are `mysql` and
 * `mysqldump` of the same product.
 */
export type ServerPrograms = { installer: string; server: string; client?: string; dump?: string };

/** `newData` is the folder of a new server's data, for later servers to copy. */
export type DatabaseServer = { url: string; port: number; newData: string; stop(): Promise<void> };

/** `folder` holds the persistent data, and starts as a copy of `newData`. `parameters` are passed to the server. */
type ServerOptions = { folder?: string; port?: number; newData?: string | undefined; parameters?: string[] };

/** Creating MySQL's data takes seconds of CPU time, which a busy machine may not give it within a minute. */
const startTimeoutMs = 240_000;

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "./free-port.ts";

/**
 * Starts an empty MariaDB or MySQL on 127.0.0.1 with a passwordless `root`, or restarts one on its folder and
 * port. The server stops on `stop()`, or when this process ends for any reason (see database-server.sh).
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

/** Returns a folder in memory if enough is available, because tables for hundreds of tests would wait for the disk. */
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

/** `newData` is the folder with the data of a new server. */
export type DatabaseServer = { url: string; port: number; newData: string; stop(): Promise<void> };

/** `folder` holds the persistent data, and starts as a copy of `newData`. `parameters` are passed to the server. */
type ServerOptions = { folder?: string; port?: number; newData?: string | undefined; parameters?: string[] };

const startTimeoutMs = 60_000;

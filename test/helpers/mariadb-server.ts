import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "./free-port.ts";
import type { MariadbPrograms } from "./mariadb-programs.ts";

/**
 * Starts an empty MariaDB on 127.0.0.1 with a passwordless `root`, unless folder and port of an earlier one are given.
 * It stops with `stop`, and also when this process dies by any signal (see mariadb-server.sh).
 */
export async function startMariadb(
  { installer, server }: MariadbPrograms,
  options: MariadbOptions = {},
): Promise<MariadbServer> {
  const folder = options.folder ?? (await mkdtemp(path.join(await quickFolder(), "gateway-mariadb-")));
  const port = options.port ?? (await freePort());
  const script = path.join(import.meta.dirname, "mariadb-server.sh");
  const after = options.folder === undefined ? "remove" : "keep";
  const parameters = [folder, String(port), installer, server, after, ...(options.parameters ?? [])];
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
  // Reads the log, since a connection mocked by nock would look like a server.
  for await (const line of createInterface({ input: guard.stderr })) {
    said.push(line);
    if (!line.includes("ready for connections")) continue;
    clearTimeout(timer);
    guard.stderr.resume();
    return { url: `mysql://root@127.0.0.1:${port}`, port, stop };
  }
  clearTimeout(timer);
  await stop();
  throw new Error(`MariaDB did not start:\n${said.slice(-20).join("\n")}`);
}

/** Uses memory where plenty is available, since tables are created and synced for hundreds of tests. */
async function quickFolder(): Promise<string> {
  const memory = await statfs("/dev/shm").catch(() => null);
  return memory && memory.bavail * memory.bsize >= plentyBytes ? "/dev/shm" : tmpdir();
}

const plentyBytes = 4 * 1024 ** 3;

export type MariadbServer = { url: string; port: number; stop(): Promise<void> };

/** `folder` holds the persistent data. `parameters` are passed to the server. */
type MariadbOptions = { folder?: string; port?: number; parameters?: string[] };

const startTimeoutMs = 60_000;

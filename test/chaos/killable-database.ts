import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import type { ExecutionContext } from "ava";
import { provideMariadb } from "../helpers/mariadb-programs.ts";
import { execute } from "../helpers/test-database.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { freePort } from "../helpers/free-port.ts";

/** A private MariaDB server that can be killed, frozen and restarted with its data. */
export type KillableDatabase = {
  port: number;
  /** Drops the previous database. Returns the URL of an empty one. */
  createEmpty(): Promise<string>;
  signal(signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): void;
  ended(): Promise<unknown>;
  /** Restarts an exited server and waits until it accepts connections. */
  start(): Promise<void>;
};

/** Returns null if MariaDB is neither installed nor installable. */
export async function createKillableDatabase(t: ExecutionContext): Promise<KillableDatabase | null> {
  const programs = provideMariadb((line) => t.log(line));
  if (!programs) return null;
  const folder = await createTestFolder(t);
  const asRoot = process.getuid?.() === 0 ? ["--user=root"] : [];
  // A starting server deletes leftover temporary tables, so two servers must not share a `tmpdir`.
  await mkdir(`${folder}/tmp`);
  const common = ["--no-defaults", ...asRoot, `--datadir=${folder}/data`, `--tmpdir=${folder}/tmp`];
  const install = [...common, "--auth-root-authentication-method=normal", "--skip-test-db"];
  const newData = process.env["TEST_MARIADB_NEW_DATA"];
  if (newData === undefined) execFileSync(programs.installer, install, { stdio: "pipe" });
  else await cp(newData, `${folder}/data`, { recursive: true });

  const port = await freePort();
  const serve = [
    ...common,
    `--socket=${folder}/socket`,
    `--pid-file=${folder}/pid`,
    `--port=${port}`,
    "--bind-address=127.0.0.1",
    "--skip-log-bin",
    "--skip-name-resolve",
    "--performance-schema=OFF",
    // The shared test server delays the write of commits, but here commits must survive a kill.
    "--innodb-flush-log-at-trx-commit=1",
    "--innodb-buffer-pool-size=64M",
    "--innodb-log-file-size=16M",
  ];
  let guard: ChildProcess | undefined;
  let serverId = 0;
  const start = async () => {
    const script = path.join(import.meta.dirname, "killable-database.sh");
    const started = spawn("sh", [script, programs.server, ...serve], { stdio: ["pipe", "pipe", "pipe"] });
    guard = started;
    started.stdout.setEncoding("utf8").once("data", (id: string) => (serverId = Number(id)));
    const said: string[] = [];
    for await (const line of createInterface({ input: started.stderr })) {
      said.push(line);
      if (!line.includes("ready for connections")) continue;
      started.stderr.resume();
      return;
    }
    throw new Error(`MariaDB did not start:\n${said.slice(-20).join("\n")}`);
  };
  const ended = async () => {
    if (guard && guard.exitCode === null) await once(guard, "exit");
  };
  t.teardown(async () => {
    guard?.stdin?.end();
    await ended();
  });
  await start();
  return {
    port,
    start,
    ended,
    async createEmpty() {
      const url = `mysql://root@127.0.0.1:${port}`;
      await execute(url, "DROP DATABASE IF EXISTS gateway; CREATE DATABASE gateway");
      return `${url}/gateway`;
    },
    signal: (signal) => void process.kill(serverId, signal),
  };
}

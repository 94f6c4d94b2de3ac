import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import type { MariadbPrograms } from "./mariadb-programs.ts";

/**
 * Starts an empty MariaDB on a free port of 127.0.0.1; its user `root` has no password. It ends with `stop`, and also
 * when this process dies by any signal (see mariadb-server.sh).
 */
export async function startMariadb({ installer, server }: MariadbPrograms): Promise<MariadbServer> {
  const folder = await mkdtemp(path.join(tmpdir(), "gateway-mariadb-"));
  const port = await freePort();
  const script = path.join(import.meta.dirname, "mariadb-server.sh");
  const guard = spawn("sh", [script, folder, String(port), installer, server], {
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
  // The log is asked, not the port: a connection that nock pretends would look like a server.
  for await (const line of createInterface({ input: guard.stderr })) {
    said.push(line);
    if (!line.includes("ready for connections")) continue;
    clearTimeout(timer);
    guard.stderr.resume();
    return { url: `mysql://root@127.0.0.1:${port}`, stop };
  }
  clearTimeout(timer);
  await stop();
  throw new Error(`MariaDB did not start:\n${said.slice(-20).join("\n")}`);
}

export type MariadbServer = { url: string; stop(): Promise<void> };

const startTimeoutMs = 60_000;

/** A port that was free a moment ago: MariaDB cannot choose one itself. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  if (address === null || typeof address === "string") throw new Error("The probe has no port");
  return address.port;
}

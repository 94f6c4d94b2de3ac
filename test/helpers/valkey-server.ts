import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { ExecutionContext } from "ava";
import { freePort } from "./free-port.ts";
import { createTestFolder } from "./test-folder.ts";
import { findProgram, installPackages } from "./system-packages.ts";

export function provideValkey(say: (line: string) => void): string | undefined {
  const present = findValkey();
  if (present !== undefined) return present;
  const problem = installPackages("Redis", ["redis-server"], say);
  const installed = findValkey();
  if (installed === undefined) {
    say(`${problem ?? "apt-get installed Redis, but no server."} The tests with Valkey are skipped.`);
  }
  return installed;
}

/** The server program for tests: `if (valkeyProgram) test(…)`. `npm test` installs it if possible. */
export const valkeyProgram = findValkey();

export async function startValkey(t: Pick<ExecutionContext, "teardown">, ...parameters: string[]) {
  if (valkeyProgram === undefined) throw new Error("There is no Valkey here: ask valkeyProgram first");
  const program = valkeyProgram;
  const folder = await createTestFolder(t);
  const port = await freePort();
  let group: ChildProcess | undefined;
  const signal = (name: NodeJS.Signals) => group?.pid !== undefined && process.kill(-group.pid, name);
  const stop = async () => {
    if (!group || group.exitCode !== null || group.signalCode !== null) return;
    const exited = once(group, "exit");
    signal("SIGKILL");
    await exited;
  };
  const start = async () => {
    const options = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""];
    // The shell kills the server when this process ends for any reason, as in database-server.sh.
    group = spawn(
      "sh",
      ["-c", '"$@" & cat >/dev/null; kill -9 0', "sh", program, ...options, ...parameters],
      {
        stdio: ["pipe", "pipe", "ignore"],
        detached: true,
      },
    );
    const { stdout } = group;
    if (!stdout) throw new Error("Valkey has no standard output");
    const said: string[] = [];
    for await (const line of createInterface({ input: stdout })) {
      said.push(line);
      if (!line.includes("Ready to accept connections")) continue;
      stdout.resume();
      return;
    }
    throw new Error(`Valkey did not start:\n${said.slice(-10).join("\n")}`);
  };
  t.teardown(stop);
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    start,
    stop,
    /** Stalls the server without closing connections. */
    freeze: () => signal("SIGSTOP"),
    wake: () => signal("SIGCONT"),
  };
}

function findValkey(): string | undefined {
  return findProgram("valkey-server", "redis-server");
}

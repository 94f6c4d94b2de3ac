import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** Runs a program until it exits or times out, then kills its remaining processes. */
export async function runProgram(
  command: string,
  parameters: string[],
  { folder, environment, timeoutMs }: ProgramSettings,
): Promise<ProgramResult> {
  const started = performance.now();
  const mark = randomUUID();
  const program = spawn("sh", ["-c", guard, "sh", command, ...parameters], {
    cwd: folder,
    env: { ...environment, [markName]: mark },
    detached: true,
  });
  const output = { stdout: "", stderr: "" };
  program.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  program.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const closed = once(program, "close");
  // If the program cannot start, both `once` calls reject. The `await` of "exit" throws the error.
  closed.catch(() => {});
  const timer = setTimeout(() => endGroup(program.pid), timeoutMs);
  try {
    const [code] = (await once(program, "exit")) as [number | null];
    const tookMs = performance.now() - started;
    endGroup(program.pid);
    await endMarked(mark);
    // A process outside of the group may keep the pipes open, so "close" may never come.
    await Promise.race([closed, sleep(2_000, undefined, { ref: false })]);
    return { ...output, code, isTooLate: tookMs >= timeoutMs, tookMs };
  } finally {
    clearTimeout(timer);
    program.stdout.destroy();
    program.stderr.destroy();
  }
}

export type ProgramSettings = { folder: string; environment: NodeJS.ProcessEnv; timeoutMs: number };

export type ProgramResult = {
  /** Null if a signal killed the guard, as on a timeout. */
  code: number | null;
  stdout: string;
  stderr: string;
  isTooLate: boolean;
  tookMs: number;
};

/** When this process dies, the guard's input closes. The guard then kills its process group, including the program. */
const guard = `
exec 3<&0
"$@" </dev/null 3<&- &
program=$!
{ cat <&3; kill -KILL 0; } >/dev/null 2>&1 &
wait $program
`;

/** Kills the program and its descendants, except those in other process groups. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group has already exited.
  }
}

/** The environment variable that identifies a program's descendants. */
const markName = "GATEWAY_TEST_MARK";

/**
 * Kills every process with this mark, because some tools leave daemons outside their process group. Does
 * nothing on systems without /proc.
 */
async function endMarked(mark: string): Promise<void> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
    if (!environment.split("\0").includes(`${markName}=${mark}`)) continue;
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // The process exited after the read.
    }
  }
}

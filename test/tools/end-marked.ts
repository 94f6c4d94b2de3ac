import { readdir, readFile } from "node:fs/promises";

/** The environment variable that identifies a program's descendants. */
export const markName = "GATEWAY_TEST_MARK";

/**
 * Kills every process with this mark, because some tools leave daemons outside their process group. Does
 * nothing on systems without /proc.
 */
export async function endMarked(mark: string): Promise<void> {
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

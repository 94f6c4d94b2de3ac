import { readdir, readFile } from "node:fs/promises";

/** The environment variable by which a program's descendants are known, wherever they went. */
export const markName = "GATEWAY_TEST_MARK";

/**
 * Ends, each by its id, the processes that have this mark: some tools leave a daemon behind which is in no process group
 * of theirs. Where the system has no /proc, it stays.
 */
export async function endMarked(mark: string): Promise<void> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
    if (!environment.split("\0").includes(`${markName}=${mark}`)) continue;
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
}

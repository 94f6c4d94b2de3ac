import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import type { ServerPrograms } from "./database-server.ts";
import { findProgram } from "./system-packages.ts";
import { openTestCache } from "./test-cache.ts";

/**
 * Returns MySQL of Debian unstable, unpacked with its own C library in a folder that later runs reuse. Installs no
 * package. `say` receives the progress and problems, line by line.
 */
export function provideMysql(say: (line: string) => void): ServerPrograms | undefined {
  const folder = mysqlFolder();
  if (!existsSync(folder)) {
    const problem = fetchMysql(folder, say);
    if (problem !== undefined) say(`${problem} The tests on MySQL are skipped.`);
  }
  return findMysql();
}

export function findMysql(): ServerPrograms | undefined {
  const folder = mysqlFolder();
  if (!existsSync(folder)) return undefined;
  const [installer = "", server = "", client, dump] = ["installer", "server", "mysql", "mysqldump"].map(
    (name) => path.join(folder, name),
  );
  return { installer, server, client, dump };
}

function mysqlFolder(): string {
  return path.join(openTestCache(), "mysql-and-client-of-debian-unstable");
}

/** Returns a one-line error, or undefined. A partly unpacked folder has a temporary name. */
function fetchMysql(folder: string, say: (line: string) => void): string | undefined {
  if (process.platform !== "linux" || !findProgram("apt-get") || !findProgram("dpkg-deb")) {
    return "MySQL comes from Debian, which this machine is not.";
  }
  say("MySQL is not here: unpacking it from Debian unstable.");
  const unfinished = mkdtempSync(`${folder}.unfinished-`);
  try {
    const script = path.join(import.meta.dirname, "fetch-mysql.sh");
    const { status, stderr } = spawnSync("sh", [script, unfinished], {
      stdio: ["ignore", "ignore", "pipe"],
      encoding: "utf8",
      timeout: fetchTimeoutMs,
    });
    if (status !== 0) return `MySQL could not be had: ${stderr.trim().split("\n").at(-1)}`;
    if (!existsSync(folder)) renameSync(unfinished, folder);
    return undefined;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

const fetchTimeoutMs = 300_000;

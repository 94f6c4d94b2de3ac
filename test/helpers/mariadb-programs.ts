import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import path from "node:path";

/**
 * Where this machine has MariaDB. Where it has none, root on Debian and its kin gets it installed; anyone else gets
 * `undefined`. `say` is given one line about what happens.
 */
export function provideMariadb(say: (line: string) => void): MariadbPrograms | undefined {
  const present = findMariadb();
  if (present) return present;
  let problem = `MariaDB is not installed (Debian: ${packages.join(" ")}).`;
  if (process.getuid?.() === 0 && findProgram("apt-get")) {
    say(`MariaDB is not installed: installing ${packages.join(" ")} with apt-get.`);
    problem =
      aptGet("update") ??
      aptGet("install", "-y", "--no-install-recommends", ...packages) ??
      "apt-get installed MariaDB, but not where it was looked for.";
  }
  const installed = findMariadb();
  if (!installed) say(`${problem} The tests on MySQL are skipped.`);
  return installed;
}

export type MariadbPrograms = { installer: string; server: string };

/** The installer of the first runs `my_print_defaults` of the second. */
const packages = ["mariadb-server-core", "mariadb-client-core"];

/** MySQL's own `mysqld` comes without such an installer, and does not count. */
function findMariadb(): MariadbPrograms | undefined {
  const installer = findProgram("mariadb-install-db", "mysql_install_db");
  const server = findProgram("mariadbd", "mysqld");
  return installer && server && findProgram("my_print_defaults") ? { installer, server } : undefined;
}

function findProgram(...names: string[]): string | undefined {
  // Servers live in /usr/sbin, which an ordinary user's PATH leaves out.
  const folders = [...(process.env.PATH ?? "").split(path.delimiter), "/usr/local/sbin", "/usr/sbin"];
  return names.flatMap((name) => folders.map((folder) => path.join(folder, name))).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Runs it quietly; the result is what went wrong, in one line. */
function aptGet(...parameters: string[]): string | undefined {
  const { status, stderr } = spawnSync("apt-get", parameters, {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    stdio: ["ignore", "ignore", "pipe"],
    encoding: "utf8",
  });
  if (status === 0) return undefined;
  return `apt-get ${parameters[0]} failed: ${stderr.trim().split("\n").at(-1)}`;
}

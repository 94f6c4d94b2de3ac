import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import path from "node:path";

export function findProgram(...names: string[]): string | undefined {
  // Debian installs servers in /usr/sbin, which an ordinary user's PATH omits.
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

/**
 * Installs Debian packages, which requires root and apt-get. Returns a one-line error, or undefined.
 * @param what the display name, such as "MariaDB"
 */
export function installPackages(
  what: string,
  packages: string[],
  say: (line: string) => void,
): string | undefined {
  if (process.getuid?.() !== 0 || !findProgram("apt-get")) {
    return `${what} is not installed (Debian: ${packages.join(" ")}).`;
  }
  say(`${what} is not installed: installing ${packages.join(" ")} with apt-get.`);
  lists ??= { problem: aptGet("update") };
  return lists.problem ?? aptGet("install", "-y", "--no-install-recommends", ...packages);
}

/** The result of `apt-get update`, which runs at most once. */
let lists: { problem: string | undefined } | undefined;

function aptGet(...parameters: string[]): string | undefined {
  const { status, stderr } = spawnSync("apt-get", parameters, {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    stdio: ["ignore", "ignore", "pipe"],
    encoding: "utf8",
  });
  if (status === 0) return undefined;
  return `apt-get ${parameters[0]} failed: ${stderr.trim().split("\n").at(-1)}`;
}

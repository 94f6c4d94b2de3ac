import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { homedir } from "node:os";
import type { PythonRegistry, PythonVersion } from "./coding-tool.ts";

/** Returns the command of the newest supported Python on the PATH or in pyenv. Null if none is installed. */
export function findPython({ pythonAtLeast, pythonBelow }: PythonRegistry): string | null {
  for (let minor = pythonBelow[1] - 1; minor >= pythonAtLeast[1]; minor--) {
    const version: PythonVersion = [pythonAtLeast[0], minor];
    const found = candidates(version).find((program) => isVersion(program, version));
    if (found !== undefined) return found;
  }
  return null;
}

/** Some systems name their only Python `python3`, without the version. */
function candidates([major, minor]: PythonVersion): string[] {
  const installed = globSync(`${homedir()}/.pyenv/versions/${major}.${minor}.*/bin/python3`);
  return [`python${major}.${minor}`, "python3", ...installed];
}

/** Runs the program, because pyenv has shims for unselected versions, and Debian's Python may lack `venv`. */
function isVersion(program: string, [major, minor]: PythonVersion): boolean {
  const print = "import sys, venv; print(*sys.version_info[:2])";
  const { status, stdout } = spawnSync(program, ["-c", print], { encoding: "utf8" });
  return status === 0 && stdout.trim() === `${major} ${minor}`;
}

import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { homedir } from "node:os";
import type { PythonRegistry, PythonVersion } from "./coding-tool.ts";

/** Returns the program of a Python in the permitted range, on the PATH or from pyenv. */
export function findPython({ pythonAtLeast, pythonBelow }: PythonRegistry): string | null {
  for (let minor = pythonBelow[1] - 1; minor >= pythonAtLeast[1]; minor--) {
    const version: PythonVersion = [pythonAtLeast[0], minor];
    const found = candidates(version).find((program) => isVersion(program, version));
    if (found !== undefined) return found;
  }
  return null;
}

/** Older versions of Debian name only one of them `python3`. */
function candidates([major, minor]: PythonVersion): string[] {
  const installed = globSync(`${homedir()}/.pyenv/versions/${major}.${minor}.*/bin/python3`);
  return [`python${major}.${minor}`, "python3", ...installed];
}

/** pyenv's stand-ins exist for versions that cannot be started. */
function isVersion(program: string, [major, minor]: PythonVersion): boolean {
  const print = "import sys, venv; print(*sys.version_info[:2])";
  const { status, stdout } = spawnSync(program, ["-c", print], { encoding: "utf8" });
  return status === 0 && stdout.trim() === `${major} ${minor}`;
}

import { spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import path from "node:path";
import { findProgram } from "./system-packages.ts";
import { openTestCache } from "./test-cache.ts";

const version = "7.6.9";

export function findPowerShell(): string | undefined {
  return [findProgram("pwsh"), installedPath()].find((file) => file !== undefined && existsSync(file));
}

/** Installs PowerShell as a .NET tool if it is missing and can be installed. */
export function providePowerShell(say: (line: string) => void): void {
  if (findPowerShell()) return;
  const dotnet = findProgram("dotnet");
  if (!dotnet)
    return say("There is no dotnet to install PowerShell. The tests of Windows scripts are skipped.");
  say(`PowerShell is not installed: installing ${version} with dotnet.`);
  const folder = path.dirname(installedPath());
  const words = ["tool", "install", "--tool-path", folder, "PowerShell", "--version", version];
  const { status, stdout, stderr } = spawnSync(dotnet, words, {
    env: { ...process.env, DOTNET_CLI_TELEMETRY_OPTOUT: "1", DOTNET_NOLOGO: "1" },
    encoding: "utf8",
  });
  if (status === 0) return;
  const problem = (stderr || stdout).trim().split("\n").at(-1) ?? "";
  say(`dotnet tool install failed: ${problem} The tests of Windows scripts are skipped.`);
}

/** The variables with which the program finds .NET, keeps its caches together, and starts faster. */
export function powerShellEnvironment(): Record<string, string> {
  const dotnet = findProgram("dotnet");
  return {
    PATH: process.env.PATH ?? "",
    HOME: path.dirname(installedPath()),
    LC_ALL: "C.UTF-8",
    POWERSHELL_TELEMETRY_OPTOUT: "1",
    POWERSHELL_UPDATECHECK: "Off",
    DOTNET_TieredPGO: "0",
    ...(dotnet ? { DOTNET_ROOT: path.dirname(realpathSync(dotnet)) } : {}),
  };
}

function installedPath(): string {
  return path.join(openTestCache(), `powershell-${version}`, "pwsh");
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { provideChromium } from "./helpers/chromium-program.ts";
import { findPowerShell, providePowerShell } from "./helpers/powershell-program.ts";
import { provideValkey } from "./helpers/valkey-server.ts";
import { provideShells } from "./setup/shells.ts";
import { startTestServers } from "./helpers/test-servers.ts";
import { reportCounts, runAva } from "./helpers/run-ava.ts";

/**
 * `npm test` builds the console, provides servers and programs for the tests, and runs ava with the given
 * arguments.
 */
async function run(parameters: string[]): Promise<void> {
  // The console builds while packages download.
  const built = buildConsole();
  const browserFailed = provideChromium(console.log) ? 0 : failedUnderCi();
  provideShells(console.log);
  providePowerShell(console.log);
  const valkeyFailed = provideValkey(console.log) === undefined ? failedUnderCi() : 0;
  const servers = await startTestServers(console.log);
  // MySQL comes from a distribution that changes daily, so only MariaDB is required.
  const serverFailed = servers.missing.includes("TEST_MARIADB_URL") ? failedUnderCi() : 0;
  const buildFailed = await built;
  const config = new URL("helpers/ava-config.ts", import.meta.url);
  const counts = await runAva(config, parameters, servers.environment);
  await servers.stop();
  const provisionFailed = buildFailed + browserFailed + valkeyFailed + serverFailed;
  console.log(`\nDatabases: ${servers.names.join(", ")}`);
  console.log(`PowerShell: ${findPowerShell() ?? "none, so the Windows scripts were not run"}`);
  reportCounts({ ...counts, failed: counts.failed + provisionFailed });
}

async function buildConsole(): Promise<number> {
  const { pathname } = new URL("../console/build.ts", import.meta.url);
  const [code] = await once(spawn(process.execPath, [pathname], { stdio: "inherit" }), "exit");
  return code === 0 ? 0 : 1;
}

/** Returns the number of failures for a missing program or server: 1 under CI, otherwise 0. */
function failedUnderCi(): number {
  if (process.env.CI !== "true") return 0;
  console.error("Under CI=true that counts as a failure.");
  return 1;
}

await run(process.argv.slice(2));

import { spawn } from "node:child_process";
import { once } from "node:events";
import { provideChromium } from "./helpers/chromium-program.ts";
import { provideMariadb } from "./helpers/mariadb-programs.ts";
import { type MariadbServer, startMariadb } from "./helpers/mariadb-server.ts";
import { provideValkey } from "./helpers/valkey-server.ts";
import { provideShells } from "./setup/shells.ts";
import { reportCounts, runAva } from "./helpers/run-ava.ts";

/**
 * `npm test` runs ava with the given arguments, a MariaDB, a built console, a Chromium, and Valkeys per test. The last
 * line is machine-readable: `N passed, N failed[, N skipped]`.
 */
async function run(parameters: string[]): Promise<void> {
  // The console builds while packages download.
  const built = buildConsole();
  const browserFailed = provideChromium(console.log) ? 0 : failedUnderCi();
  provideShells(console.log);
  const valkeyFailed = provideValkey(console.log) === undefined ? failedUnderCi() : 0;
  const mysql = await provideMysql();
  const buildFailed = await built;
  const config = new URL("helpers/ava-config.ts", import.meta.url);
  const counts = await runAva(config, parameters, { TEST_MYSQL_URL: mysql.url });
  await mysql.stop();
  const provisionFailed = buildFailed + browserFailed + valkeyFailed + mysql.failed;
  reportCounts({ ...counts, failed: counts.failed + provisionFailed });
}

/** Uses the server of TEST_MYSQL_URL, otherwise starts one. */
async function provideMysql(): Promise<MariadbServer & { failed: number }> {
  const none = { url: "", port: 0, stop: async () => {} };
  const given = process.env.TEST_MYSQL_URL;
  if (given) return { ...none, url: given, failed: 0 };
  const programs = provideMariadb(console.log);
  if (!programs) {
    return { ...none, failed: failedUnderCi() };
  }
  try {
    return { ...(await startMariadb(programs)), failed: 0 };
  } catch (error) {
    console.error(error);
    return { ...none, failed: 1 };
  }
}

/** Returns the number of failures. */
async function buildConsole(): Promise<number> {
  const { pathname } = new URL("../console/build.ts", import.meta.url);
  const [code] = await once(spawn(process.execPath, [pathname], { stdio: "inherit" }), "exit");
  return code === 0 ? 0 : 1;
}

/** Half a suite is fine locally; CI requires all of it. */
function failedUnderCi(): number {
  if (process.env.CI !== "true") return 0;
  console.error("Under CI=true that counts as a failure.");
  return 1;
}

await run(process.argv.slice(2));

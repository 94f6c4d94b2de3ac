import { spawn } from "node:child_process";
import { once } from "node:events";
import { provideChromium } from "./helpers/chromium-program.ts";
import { provideMariadb } from "./helpers/mariadb-programs.ts";
import { type MariadbServer, startMariadb } from "./helpers/mariadb-server.ts";
import { provideValkey } from "./helpers/valkey-server.ts";
import { provideShells } from "./setup/shells.ts";
import { reportCounts, runAva } from "./helpers/run-ava.ts";

/**
 * What `npm test` runs: ava with the arguments given, one MariaDB beside it for the tests that need MySQL, a built console
 * and a Chromium for those of the console, and a Valkey that each of its tests starts.
 * The last line is for programs: `N passed, N failed[, N skipped]`.
 */
async function run(parameters: string[]): Promise<void> {
  // While packages are fetched and unpacked, the console is built.
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

/** A server given by TEST_MYSQL_URL is used as it is; otherwise one is started. */
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

/** How many failures it is. */
async function buildConsole(): Promise<number> {
  const { pathname } = new URL("../console/build.ts", import.meta.url);
  const [code] = await once(spawn(process.execPath, [pathname], { stdio: "inherit" }), "exit");
  return code === 0 ? 0 : 1;
}

/** At a desk half a suite is better than none; where it decides what lands, it has to be whole. */
function failedUnderCi(): number {
  if (process.env.CI !== "true") return 0;
  console.error("Under CI=true that counts as a failure.");
  return 1;
}

await run(process.argv.slice(2));

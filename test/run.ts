import { provideMariadb } from "./helpers/mariadb-programs.ts";
import { type MariadbServer, startMariadb } from "./helpers/mariadb-server.ts";
import { reportCounts, runAva } from "./helpers/run-ava.ts";

/**
 * What `npm test` runs: ava with the arguments given, and one MariaDB beside it for the tests that need MySQL.
 * The last line is for programs: `N passed, N failed[, N skipped]`.
 */
async function run(parameters: string[]): Promise<void> {
  const mysql = await provideMysql();
  const config = new URL("helpers/ava-config.ts", import.meta.url);
  const counts = await runAva(config, parameters, { TEST_MYSQL_URL: mysql.url });
  await mysql.stop();
  reportCounts({ ...counts, failed: counts.failed + mysql.failed });
}

/** A server given by TEST_MYSQL_URL is used as it is; otherwise one is started. */
async function provideMysql(): Promise<MariadbServer & { failed: number }> {
  const none = { url: "", stop: async () => {} };
  const given = process.env.TEST_MYSQL_URL;
  if (given) return { ...none, url: given, failed: 0 };
  const programs = provideMariadb(console.log);
  if (!programs) {
    // At a desk half a suite is better than none; where it decides what lands, it has to be whole.
    const failed = process.env.CI === "true" ? 1 : 0;
    if (failed) console.error("Under CI=true that counts as a failure.");
    return { ...none, failed };
  }
  try {
    return { ...(await startMariadb(programs)), failed: 0 };
  } catch (error) {
    console.error(error);
    return { ...none, failed: 1 };
  }
}

await run(process.argv.slice(2));

import { provideMariadb } from "../helpers/mariadb-programs.ts";
import { startMariadb } from "../helpers/mariadb-server.ts";
import { reportCounts, runAva } from "../helpers/run-ava.ts";

/**
 * What `npm run test:chaos` runs: the tests of this folder in full, one after the other, each also with a bug that it must
 * find. Each prints one line of figures. The last line is for programs: `N passed, N failed[, N skipped]`.
 */
async function run(parameters: string[]): Promise<void> {
  const programs = provideMariadb(console.log);
  const mysql = programs ? await startMariadb(programs) : null;
  const config = new URL("../helpers/ava-config.ts", import.meta.url);
  const files = parameters.length > 0 ? parameters : ["test/chaos/*.test.ts"];
  const options = ["--serial", "--concurrency=1", "--timeout=15m"];
  const environment = { CHAOS: "full", TEST_MYSQL_URL: mysql?.url ?? "" };
  const counts = await runAva(config, [...options, ...files], environment);
  await mysql?.stop();
  reportCounts(counts);
}

await run(process.argv.slice(2));

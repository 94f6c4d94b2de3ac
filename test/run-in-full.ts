import { provideMariadb } from "./helpers/mariadb-programs.ts";
import { startMariadb } from "./helpers/mariadb-server.ts";
import { reportCounts, runAva } from "./helpers/run-ava.ts";

/**
 * `npm run test:chaos` and `npm run test:attack` run one folder's tests serially at full scale. Each prints a line of
 * figures. The last line is machine-readable: `N passed, N failed[, N skipped]`.
 * @param folder below `test`
 */
async function runInFull(folder: string, parameters: string[]): Promise<void> {
  const programs = provideMariadb(console.log);
  const mysql = programs ? await startMariadb(programs) : null;
  const config = new URL("helpers/ava-config.ts", import.meta.url);
  const files = parameters.length > 0 ? parameters : [`test/${folder}/*.test.ts`];
  const options = ["--serial", "--concurrency=1", "--timeout=15m"];
  const environment = { TEST_SCALE: "full", TEST_MYSQL_URL: mysql?.url ?? "" };
  const counts = await runAva(config, [...options, ...files], environment);
  await mysql?.stop();
  reportCounts(counts);
}

const [folder = "chaos", ...parameters] = process.argv.slice(2);
await runInFull(folder, parameters);

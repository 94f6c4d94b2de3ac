import { reportCounts, runAva } from "./helpers/run-ava.ts";
import { startTestServers } from "./helpers/test-servers.ts";

/**
 * `npm run test:chaos` and `npm run test:attack` run one folder's tests serially at full scale.
 * @param folder the folder below `test`
 */
async function runInFull(folder: string, parameters: string[]): Promise<void> {
  const servers = await startTestServers(console.log);
  const config = new URL("helpers/ava-config.ts", import.meta.url);
  const files = parameters.length > 0 ? parameters : [`test/${folder}/*.test.ts`];
  const options = ["--serial", "--concurrency=1", "--timeout=15m"];
  const environment = { ...servers.environment, TEST_SCALE: "full" };
  const counts = await runAva(config, [...options, ...files], environment);
  await servers.stop();
  console.log(`\nDatabases: ${servers.names.join(", ")}`);
  reportCounts(counts);
}

const [folder = "chaos", ...parameters] = process.argv.slice(2);
await runInFull(folder, parameters);

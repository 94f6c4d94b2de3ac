import { reportCounts, runAva } from "./helpers/run-ava.ts";
import { startTestServers } from "./helpers/test-servers.ts";

/**
 * `npm run test:alone` runs the measurements. `npm run test:chaos` and `npm run test:attack` run one folder's tests at
 * full scale.
 * @param subject `alone`, or a folder below `test`
 */
async function runSerially(subject: string, parameters: string[]): Promise<void> {
  const servers = await startTestServers(console.log);
  const isAlone = subject === "alone";
  const config = new URL(`helpers/${isAlone ? "alone" : "ava"}-config.ts`, import.meta.url);
  const files = parameters.length > 0 || isAlone ? parameters : [`test/${subject}/*.test.ts`];
  const options = ["--serial", "--concurrency=1", "--timeout=15m"];
  const environment = { ...servers.environment, ...(!isAlone && { TEST_SCALE: "full" }) };
  const counts = await runAva(config, [...options, ...files], environment);
  await servers.stop();
  console.log(`\nDatabases: ${servers.names.join(", ")}`);
  reportCounts(counts);
}

const [subject = "alone", ...parameters] = process.argv.slice(2);
await runSerially(subject, parameters);

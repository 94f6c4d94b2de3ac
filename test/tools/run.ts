import { reportCounts, runAva } from "../helpers/run-ava.ts";
import { codingTools } from "./coding-tools.ts";
import { installTool } from "./install-tool.ts";

/**
 * `npm run test:tools` installs missing coding tools outside of the project and tries them all. The last line is
 * machine-readable: `N passed, N failed[, N skipped]`; only tools that npm refuses are skipped.
 */
async function run(parameters: string[]): Promise<void> {
  const refused = await installTools();
  const config = new URL("ava-config.ts", import.meta.url);
  // One kind of database is enough here.
  const environment = { TEST_TOOLS_REFUSED: refused.join(","), TEST_MYSQL_URL: "" };
  reportCounts(await runAva(config, parameters, environment));
}

/** Reports each installation; returns the names that npm refuses. */
async function installTools(): Promise<string[]> {
  // A pending installation ends with this process.
  const stop = () => process.exit(1);
  for (const signal of signals) process.on(signal, stop);
  const refused: string[] = [];
  for (const tool of codingTools) {
    const title = `${tool.name} ${tool.version}`;
    const installed = await installTool(tool);
    if ("command" in installed) {
      const { tookMs } = installed;
      console.log(
        `${title}: ${tookMs === 0 ? "installed before" : `installed in ${Math.ceil(tookMs / 1_000)} s`}`,
      );
    } else if (installed.isRefused) {
      refused.push(tool.name);
      console.error(`${title}: SKIPPED, npm does not give it:\n${installed.said}`);
    } else {
      // Its tests retry and then report the same error.
      console.error(`${title}: could not be installed:\n${installed.said}`);
    }
  }
  for (const signal of signals) process.off(signal, stop);
  return refused;
}

const signals = ["SIGINT", "SIGTERM"];

await run(process.argv.slice(2));

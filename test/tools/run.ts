import { reportCounts, runAva } from "../helpers/run-ava.ts";
import { codingTools } from "./coding-tools.ts";
import { installTool } from "./install-tool.ts";

/**
 * What `npm run test:tools` runs: it installs the coding tools that are not here yet, outside of the project, and tries them
 * all. The last line is for programs: `N passed, N failed[, N skipped]`; skipped is only what npm does not give.
 */
async function run(parameters: string[]): Promise<void> {
  const refused = await installTools();
  const config = new URL("ava-config.ts", import.meta.url);
  // One database is enough for this.
  const environment = { TEST_TOOLS_REFUSED: refused.join(","), TEST_MYSQL_URL: "" };
  reportCounts(await runAva(config, parameters, environment));
}

/** Says what became of each, and gives the names of those that npm does not give. */
async function installTools(): Promise<string[]> {
  // What is being installed ends with this process.
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
      // It is tried once more by its tests, which then say the same.
      console.error(`${title}: could not be installed:\n${installed.said}`);
    }
  }
  for (const signal of signals) process.off(signal, stop);
  return refused;
}

const signals = ["SIGINT", "SIGTERM"];

await run(process.argv.slice(2));

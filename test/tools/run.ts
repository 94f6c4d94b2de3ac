import { reportCounts, runAva } from "../helpers/run-ava.ts";
import type { CodingTool } from "./coding-tool.ts";
import { allTools, selectTools } from "./coding-tools.ts";
import { installTool } from "./install-tool.ts";
import { toolMatrix } from "./tool-matrix.ts";

/**
 * `npm run test:tools` installs and tests coding tools, except those that a registry refuses or that lack a Python.
 * `--fast` omits slow tools and some upstreams. The last line is `N passed, N failed[, N skipped]`.
 */
async function run(parameters: string[]): Promise<void> {
  for (const { tool, version, api, verified } of toolMatrix) {
    console.log(`${tool.padEnd(22)}${version.padEnd(12)}${api.padEnd(18)}${verified}`);
  }
  const isFast = parameters.includes("--fast");
  const tools = selectTools({ isFast });
  for (const tool of allTools) {
    if (!tools.some(({ name }) => name === tool.name))
      console.log(`${tool.name} ${tool.version}: only without --fast`);
  }
  const refused = await installTools(tools);
  const config = new URL("ava-config.ts", import.meta.url);
  const environment = {
    TEST_TOOLS_REFUSED: refused.join(","),
    TEST_TOOLS_FAST: isFast ? "1" : "",
  };
  const rest = parameters.filter((parameter) => parameter !== "--fast");
  reportCounts(await runAva(config, rest, environment));
}

/** Reports each installation. Returns the names of the refused tools. */
async function installTools(tools: CodingTool[]): Promise<string[]> {
  // On a signal, this process exits, and a pending installation ends with it.
  const stop = () => process.exit(1);
  for (const signal of signals) process.on(signal, stop);
  const refused: string[] = [];
  for (const tool of tools) {
    const title = `${tool.name} ${tool.version}`;
    const installed = await installTool(tool);
    if ("command" in installed) {
      const { tookMs } = installed;
      console.log(
        `${title}: ${tookMs === 0 ? "installed before" : `installed in ${Math.ceil(tookMs / 1_000)} s`}`,
      );
    } else if (installed.isRefused) {
      refused.push(tool.name);
      console.error(`${title}: SKIPPED, its registry does not give it:\n${installed.said}`);
    } else {
      // The tests repeat the installation and fail with the same error.
      console.error(`${title}: could not be installed:\n${installed.said}`);
    }
  }
  for (const signal of signals) process.off(signal, stop);
  return refused;
}

const signals = ["SIGINT", "SIGTERM"];

await run(process.argv.slice(2));

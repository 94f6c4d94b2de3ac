import { spawnSync } from "node:child_process";
import { findProgram, installPackages } from "../helpers/system-packages.ts";
import { reportCounts, runAva } from "../helpers/run-ava.ts";

/**
 * `npm run test:image` builds and runs the image with buildah, which needs no daemon. Where that is impossible, the
 * tests check only the image's source files.
 */
async function run(parameters: string[]): Promise<void> {
  const problem = findProblem();
  if (problem !== undefined) console.error(`The image is not built: ${problem}`);
  const config = new URL("ava-config.ts", import.meta.url);
  const environment = { TEST_IMAGE: problem === undefined ? "build" : "" };
  reportCounts(await runAva(config, parameters, environment));
}

function findProblem(): string | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "that takes root on Linux.";
  if (!findProgram("buildah")) {
    const failure = installPackages("buildah", ["buildah"], console.log);
    if (failure !== undefined) return failure;
  }
  const { status } = spawnSync("unshare", ["--mount", "--pid", "--fork", "true"]);
  return status === 0
    ? undefined
    : "this machine does not let it have a file system and processes of its own.";
}

await run(process.argv.slice(2));

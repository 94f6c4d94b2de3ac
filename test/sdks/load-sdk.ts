import { createRequire } from "node:module";
import path from "node:path";
import { installTool } from "../tools/install-tool.ts";

/**
 * Installs an SDK outside the project, because the project has another version or the SDK has many
 * dependencies. Returns its `require`, or null if the installation fails.
 */
export async function loadSdk(name: string, version: string): Promise<NodeJS.Require | null> {
  const parameters = ["--ignore-scripts", "--fetch-retries=0"];
  const installed = await installTool({ package: name, version, command: "" }, parameters);
  if ("folder" in installed) return createRequire(path.join(installed.folder, "package.json"));
  console.error(`${name} ${version}: SKIPPED, npm does not provide it:\n${installed.said}`);
  return null;
}

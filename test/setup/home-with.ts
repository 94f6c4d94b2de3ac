import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { ExecutionContext } from "ava";
import { generateSetup, type GeneratedSetup } from "../../gateway/setup/generate-setup.ts";
import type { ToolId } from "../../gateway/setup/tool-setups.ts";
import { createSetupHome, type SetupHome } from "./setup-home.ts";
import { keyValue, setupModels } from "./setup-models.ts";

/** `files` maps paths in the home folder to contents with one character per byte. */
export async function homeWith(t: ExecutionContext, files: Record<string, string>): Promise<SetupHome> {
  const home = await createSetupHome(t, { programs: [] });
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(home.home, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content, "latin1");
  }
  return home;
}

/** Generates a setup for a home without a program that could check the gateway. */
export function generateOffline(
  tool: ToolId,
  more: { key?: string | null; daily?: string } = {},
): GeneratedSetup {
  const models = more.daily === undefined ? setupModels() : setupModels({ daily: more.daily });
  const key = more.key === undefined ? keyValue : more.key;
  return generateSetup({ tool, operatingSystem: "posix", baseUrl: "http://127.0.0.1:9", key, models });
}

import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { CodingTool } from "./coding-tool.ts";
import { type ProgramResult, runProgram } from "./run-program.ts";

/**
 * A coding tool of exactly the wanted version, from npm, in a folder of its own outside of the project, where the next run
 * finds it. A folder gets its name only once all is in it, so that a half-done one counts for nothing.
 */
export async function installTool(tool: Wanted): Promise<Installation> {
  const folder = path.join(await openCache(), `${tool.package.replace("/", "-")}@${tool.version}`);
  const command = path.join(folder, "node_modules/.bin", tool.command);
  if ((await installedVersion(folder, tool)) === tool.version) return { command, tookMs: 0 };

  await removeAbandoned(path.dirname(folder));
  const unfinished = await mkdtemp(`${folder}${unfinishedMark}`);
  try {
    const { code, stderr, stdout, tookMs } = await runNpm(unfinished, tool);
    if (code !== 0) {
      const said = `${stderr}\n${stdout}`.trim();
      return { isRefused: /\bcode (E401|E403|E404|E451|ETARGET|ENOVERSIONS)\b/.test(said), said };
    }
    await rm(folder, { recursive: true, force: true });
    await rename(unfinished, folder);
    return { command, tookMs };
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

type Wanted = Pick<CodingTool, "package" | "version" | "command">;

/** `tookMs` is 0 where it was there already; `isRefused` says that the registry does not give it. */
export type Installation = { command: string; tookMs: number } | { isRefused: boolean; said: string };

/** What lies there is run, so it must not be somebody else's. */
async function openCache(): Promise<string> {
  const user = process.getuid?.();
  const folder = process.env.TEST_TOOLS_DIR ?? path.join(tmpdir(), `gateway-coding-tools-${user ?? ""}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = await stat(folder);
  if (user !== undefined && (uid !== user || (mode & 0o022) !== 0)) {
    throw new Error(`Others than you can write to ${folder}.`);
  }
  return folder;
}

/** What was being installed when its process was ended. */
async function removeAbandoned(cache: string): Promise<void> {
  const names = (await readdir(cache)).filter((name) => name.includes(unfinishedMark));
  for (const folder of names.map((name) => path.join(cache, name))) {
    const stats = await stat(folder).catch(() => null);
    const isOld = stats !== null && stats.birthtimeMs < Date.now() - 2 * timeoutMs;
    if (isOld) await rm(folder, { recursive: true, force: true });
  }
}

const unfinishedMark = ".unfinished-";
const timeoutMs = 240_000;

async function installedVersion(folder: string, { package: name }: Wanted): Promise<string | null> {
  const manifest = path.join(folder, "node_modules", name, "package.json");
  const text = await readFile(manifest, "utf8").catch(() => null);
  return text === null ? null : (JSON.parse(text) as { version: string }).version;
}

async function runNpm(folder: string, { package: name, version }: Wanted): Promise<ProgramResult> {
  await writeFile(path.join(folder, "package.json"), '{ "private": true }\n');
  // What `npm run` tells its programs about this project must not hold for the other.
  const environment = Object.fromEntries(
    Object.entries(process.env).filter(([variable]) => !/^(npm_.*|node_env|node_options)$/i.test(variable)),
  );
  const parameters = ["install", "--no-audit", "--no-fund", "--loglevel=error", `${name}@${version}`];
  return runProgram("npm", parameters, { folder, environment, timeoutMs });
}

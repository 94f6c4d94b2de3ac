import { mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { openTestCache } from "../helpers/test-cache.ts";
import type { CodingTool, PythonRegistry } from "./coding-tool.ts";
import { findPython } from "./find-python.ts";
import { type ProgramResult, runProgram } from "./run-program.ts";

/**
 * Installs a package's exact version in a cache folder that later runs reuse.
 * @param parameters further parameters of `npm install`
 */
export async function installTool(tool: Wanted, parameters: string[] = []): Promise<Installation> {
  const folder = path.join(openTestCache(), `${tool.package.replace("/", "-")}@${tool.version}`);
  if (tool.registry) return installFromPypi(folder, tool, tool.registry);
  const command = path.join(folder, "node_modules/.bin", tool.command);
  if ((await installedVersion(folder, tool)) === tool.version) return { folder, command, tookMs: 0 };

  await removeAbandoned(path.dirname(folder));
  const unfinished = await mkdtemp(`${folder}${unfinishedMark}`);
  try {
    const { code, stderr, stdout, tookMs } = await runNpm(unfinished, tool, parameters);
    if (code !== 0) {
      const said = `${stderr}\n${stdout}`.trim();
      return { isRefused: /\bcode (E401|E403|E404|E451|ETARGET|ENOVERSIONS)\b/.test(said), said };
    }
    await rm(folder, { recursive: true, force: true });
    await rename(unfinished, folder);
    return { folder, command, tookMs };
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

type Wanted = Pick<CodingTool, "package" | "registry" | "version" | "command">;

/** `tookMs` is 0 for a cached tool. `isRefused` is true if the registry refuses the tool or Python is missing. */
export type Installation =
  | { folder: string; command: string; tookMs: number }
  | { isRefused: boolean; said: string };

/** A virtual environment contains its own path, so it cannot be renamed. The file `complete` is written last. */
async function installFromPypi(
  folder: string,
  { package: name, version, command }: Wanted,
  registry: PythonRegistry,
): Promise<Installation> {
  const installed = { folder, command: path.join(folder, "bin", command), tookMs: 0 };
  const mark = path.join(folder, "complete");
  if ((await stat(mark).catch(() => null)) !== null) return installed;
  const python = findPython(registry);
  if (python === null) {
    const [major, minor] = registry.pythonAtLeast;
    return { isRefused: true, said: `This machine has no Python ${major}.${minor} or a suitable newer one.` };
  }
  await rm(folder, { recursive: true, force: true });
  const script = '"$1" -m venv "$2" && "$2/bin/pip" install --quiet --disable-pip-version-check "$3"';
  const settings = { folder: path.dirname(folder), environment: process.env, timeoutMs };
  const parameters = ["-c", script, "sh", python, folder, `${name}==${version}`];
  const { code, stderr, tookMs } = await runProgram("sh", parameters, settings);
  if (code !== 0)
    return { isRefused: /No matching distribution|HTTP error (401|403|404)/.test(stderr), said: stderr };
  await writeFile(mark, "");
  return { ...installed, tookMs };
}

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

async function runNpm(
  folder: string,
  { package: name, version }: Wanted,
  extra: string[],
): Promise<ProgramResult> {
  await writeFile(path.join(folder, "package.json"), '{ "private": true }\n');
  // This project's npm and Node settings must not affect the installation.
  const environment = Object.fromEntries(
    Object.entries(process.env).filter(([variable]) => !/^(npm_.*|node_env|node_options)$/i.test(variable)),
  );
  // Some packages write to the home folder during their installation, so `HOME` is the tool's folder.
  environment["npm_config_userconfig"] = path.join(homedir(), ".npmrc");
  environment["npm_config_cache"] = path.join(homedir(), ".npm");
  environment["HOME"] = folder;
  const parameters = [
    "install",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
    ...extra,
    `${name}@${version}`,
  ];
  return runProgram("npm", parameters, { folder, environment, timeoutMs });
}

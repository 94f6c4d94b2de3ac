import { spawn } from "node:child_process";
import { once } from "node:events";
import { lstat, mkdir, readdir, readFile, readlink, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import type { ExecutionContext } from "ava";
import { findProgram } from "../helpers/system-packages.ts";
import { createTestFolder } from "../helpers/test-folder.ts";

/** Creates a home folder, and a PATH with only standard programs and `programs`. */
export async function createSetupHome(
  t: Pick<ExecutionContext, "teardown">,
  { programs = ["curl"], awk = "awk", name = "home" }: SetupHomeOptions = {},
): Promise<SetupHome> {
  const folder = await createTestFolder(t);
  const home = path.join(folder, name);
  const bin = path.join(folder, "bin");
  for (const each of [home, bin, path.join(folder, "tmp")])
    await mkdir(each, { recursive: true, mode: 0o700 });
  for (const program of ["sh", ...posixPrograms, ...programs]) {
    // python3 on the PATH may be a version manager's script, which fails in another home.
    const file = program === "python3" ? "/usr/bin/python3" : findProgram(program);
    if (file) await symlink(program === "node" ? process.execPath : file, path.join(bin, program));
  }
  const file = findProgram(awk);
  if (!file) throw new Error(`This machine has no ${awk}.`);
  if (awk === "busybox") {
    await writeFile(path.join(bin, "awk"), `#!/bin/sh\nexec ${file} awk "$@"\n`, { mode: 0o755 });
  } else await symlink(file, path.join(bin, "awk"));
  const environment = { PATH: bin, HOME: home, TMPDIR: path.join(folder, "tmp"), SHELL: "/bin/bash" };
  return {
    folder,
    home,
    environment,
    run: (shell, command, more) => run(shell, command, { ...environment, ...more }),
  };
}

type SetupHomeOptions = {
  /** Programs in addition to `sh`, an awk and `posixPrograms`. */
  programs?: string[];
  awk?: string;
  name?: string;
};

export type SetupHome = {
  folder: string;
  home: string;
  environment: Record<string, string>;
  /** Runs the command as a shell runs pasted text, without a terminal. */
  run(shell: string, command: string, environment?: Record<string, string>): Promise<Outcome>;
};

export type Outcome = { code: number | null; stdout: string; stderr: string };

const posixPrograms =
  "basename cat chmod cksum cmp cp date dirname find grep head mkdir mktemp mv readlink rm rmdir sed stty tail tr uname wc".split(
    " ",
  );

async function run(shell: string, command: string, environment: Record<string, string>): Promise<Outcome> {
  const file = findProgram(shell);
  if (!file) throw new Error(`This machine has no ${shell}.`);
  // fish does not read commands from the kind of pipe that Node creates.
  const options = { zsh: ["-f"], fish: ["--no-config", "-c", command] }[shell] ?? [];
  // A detached process has no terminal, so the command cannot prompt for a key.
  const program = spawn(file, options, { env: environment, detached: true, cwd: "/" });
  const output = { stdout: "", stderr: "" };
  program.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  program.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  // If the shell exits early, writing to its input fails.
  program.stdin.on("error", () => {});
  program.stdin.end(shell === "fish" ? "" : command);
  const [code] = (await once(program, "close")) as [number | null];
  return { code, ...output };
}

/** Returns every entry below the folder by path: a file's content or a link's target. Folders end with a slash. */
export async function readTree(folder: string): Promise<Record<string, string>> {
  const tree: Record<string, string> = {};
  for (const name of await readdir(folder, { recursive: true })) {
    const file = path.join(folder, name);
    const stats = await lstat(file);
    if (stats.isDirectory()) tree[`${name}/`] = "";
    else if (stats.isSymbolicLink()) tree[name] = `-> ${await readlink(file)}`;
    else tree[name] = await readFile(file, "latin1");
  }
  return tree;
}

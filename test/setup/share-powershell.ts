import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import test, { type ExecutionContext } from "ava";
import { findPowerShell, powerShellEnvironment } from "../helpers/powershell-program.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createTestFolder } from "../helpers/test-folder.ts";

/** Runs a file's tests in one PowerShell, because a start costs more than a second of CPU time. */
export function sharePowerShell(): PowerShell {
  const program = findPowerShell();
  const owner = sharedByFile();
  let ask: ((request: object) => Promise<unknown>) | undefined;
  const send = (request: object): Promise<unknown> => {
    ask ??= start(program ?? "pwsh", owner);
    return ask(request);
  };
  return {
    test: program === undefined ? test.skip : test.serial,
    run: (script, { environment = {}, account = {} } = {}) =>
      send({ script, environment, account }) as Promise<ScriptOutcome>,
    read: (text) => send({ read: text }) as Promise<ReadScript>,
  };
}

export type PowerShell = {
  /** Skips without PowerShell. */
  test: typeof test.serial | typeof test.skip;
  run(script: string, surroundings?: Surroundings): Promise<ScriptOutcome>;
  /** Parses without running. */
  read(text: string): Promise<ReadScript>;
};

/** `account` stands in for the environment variables of a Windows account. */
type Surroundings = { environment?: Record<string, string>; account?: Record<string, string> };

export type ScriptOutcome = { said: string[]; thrown: string | null; account: Record<string, string> };

export type ReadScript = {
  mistakes: string[];
  statements: number;
  /** The kinds of all tokens. */
  kinds: string[];
  functions: string[];
  commands: string[];
  /** The names of all variables that something assigns to. */
  written: string[];
  operators: string[];
  /** The values of all single-quoted strings. */
  strings: string[];
};

function start(program: string, owner: Pick<ExecutionContext, "teardown">) {
  const script = path.join(import.meta.dirname, "run-requests.ps1");
  const shell = spawn(program, ["-NoProfile", "-NonInteractive", "-File", script], {
    env: powerShellEnvironment(),
    cwd: "/",
    stdio: ["pipe", "pipe", "inherit"],
  });
  const closed = once(shell, "close");
  owner.teardown(() => {
    shell.stdin.end();
    return closed;
  });
  const waiting: PromiseWithResolvers<unknown>[] = [];
  createInterface({ input: shell.stdout }).on("line", (line) => waiting.shift()?.resolve(JSON.parse(line)));
  void closed.then(() => {
    for (const { reject } of waiting) reject(new Error("PowerShell ended."));
  });
  return (request: object) => {
    const answer = Promise.withResolvers<unknown>();
    waiting.push(answer);
    const line = JSON.stringify(request).replaceAll(
      /[^\x20-\x7e]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
    shell.stdin.write(`${line}\n`);
    return answer.promise;
  };
}

/** The path contains quotes, wildcards and a variable, because PowerShell must use the path literally. */
export async function createWindowsHome(t: Pick<ExecutionContext, "teardown">): Promise<string> {
  const home = path.join(await createTestFolder(t), "some 'one\u2019s [home] $HOME \u00fc");
  await mkdir(home, { recursive: true });
  return home;
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { ExecutionContext } from "ava";
import { createUpstream } from "../../helpers/scripted-upstream.ts";
import { findProgram } from "../../helpers/system-packages.ts";
import { createTestFolder } from "../../helpers/test-folder.ts";
import { createPowerShellParser } from "./parse-powershell.ts";
import { runPowerShell } from "./run-powershell.ts";
import { Thrown } from "./values.ts";
import { type Answer, createStandInSystem } from "./stand-in-system.ts";

/** A user's machine as a command for Windows sees it. */
export type WindowsHome = {
  home: string;
  baseUrl: string;
  /** Returns the command's output. */
  run(command: string): Promise<string>;
  /** The environment variables of a Windows account. Null for pwsh, which the tests run outside Windows. */
  account: Map<string, string> | null;
};

type CreateHome = (t: ExecutionContext, options?: HomeOptions) => Promise<WindowsHome>;

type HomeOptions = { answer?: Answer; environment?: Record<string, string> };

/** Returns a real PowerShell if installed, and always the stand-in. */
export async function findPowerShells(say: (line: string) => void): Promise<PowerShells> {
  const parse = await createPowerShellParser();
  const standIn: CreateHome = async (t, { answer = oneModel, environment = {} } = {}) => {
    const home = await makeHome(t);
    const system = createStandInSystem({ USERPROFILE: home, ...environment }, answer);
    const run = async (command: string) => {
      const undo = /\\(undo-[\w-]+\.ps1)"/.exec(command)?.[1];
      const isUndo = undo !== undefined && command.startsWith("& ([scriptblock]");
      const text = isUndo ? await readFile(path.join(home, ".config/model-gateway", undo), "utf8") : command;
      const { tree, mistakes } = parse(text.replace("\ufeff", ""));
      t.deepEqual(mistakes, []);
      // PowerShell stays open after an uncaught exception.
      try {
        runPowerShell(tree, system);
      } catch (error) {
        if (!(error instanceof Thrown)) throw error;
      }
      return `${system.said.splice(0).join("\n")}\n`;
    };
    return { home, run, baseUrl: "http://127.0.0.1:9", account: system.account };
  };
  const program = findProgram("pwsh");
  if (!program) {
    say("There is no pwsh here: the commands for Windows are read by a stand-in and not run by PowerShell.");
    return { standIn, all: { "the stand-in": standIn } };
  }
  const pwsh: CreateHome = (t, options) => createPwshHome(t, program, options);
  return { standIn, all: { "the stand-in": standIn, pwsh } };
}

type PowerShells = { standIn: CreateHome; all: Record<string, CreateHome> };

async function createPwshHome(
  t: ExecutionContext,
  program: string,
  { answer = oneModel, environment = {} }: HomeOptions = {},
): Promise<WindowsHome> {
  const home = await makeHome(t);
  const upstream = await createUpstream(t, (_request, response) => {
    response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.text);
  });
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    USERPROFILE: home,
    POWERSHELL_TELEMETRY_OPTOUT: "1",
    ...environment,
  };
  const run = async (command: string) => {
    const shell = spawn(program, ["-NoProfile", "-NonInteractive", "-Command", command], { env, cwd: "/" });
    let said = "";
    for (const stream of [shell.stdout, shell.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (said += text));
    await once(shell, "close");
    return said;
  };
  return { home, run, baseUrl: answer.status > 0 ? upstream.url : "http://127.0.0.1:9", account: null };
}

/** The path contains quotes, wildcards and a variable, because PowerShell must use the path literally. */
async function makeHome(t: ExecutionContext): Promise<string> {
  const home = path.join(await createTestFolder(t), "some 'one\u2019s [home] $HOME \u00fc");
  await mkdir(home, { recursive: true });
  return home;
}

const oneModel: Answer = {
  status: 200,
  text: '{"object":"list","data":[{"id":"demo/echo","object":"model"}]}',
};

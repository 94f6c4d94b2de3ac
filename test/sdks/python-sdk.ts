import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import test from "ava";
import { openTestCache } from "../helpers/test-cache.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import type { PythonRegistry } from "../tools/coding-tool.ts";
import { installTool } from "../tools/install-tool.ts";
import { runProgram } from "../tools/run-program.ts";
import type { SdkClient, SdkConversation } from "./three-turns.ts";

const registry: PythonRegistry = { name: "pypi", pythonAtLeast: [3, 10], pythonBelow: [3, 15] };

/**
 * Installs Python packages as wheels in a cache folder outside the project. Later runs reuse the folder.
 * Returns null if the installation fails.
 */
export async function installPythonSdk(...packages: string[]): Promise<PythonSdk | null> {
  const uv = await (installedUv ??= installUv());
  if ("said" in uv) return skip(packages, uv.said);
  const python = path.join(uv.folder, "bin/python");
  const folder = path.join(openTestCache(), `python-${packages.join("+")}`);
  if ((await stat(folder).catch(() => null)) !== null) return { python, packages: folder };

  const unfinished = await mkdtemp(`${folder}.unfinished-`);
  try {
    const parameters = ["pip", "install", "--quiet", "--only-binary", ":all:", "--python", python];
    const settings = { folder: unfinished, environment: process.env, timeoutMs: 240_000 };
    const { code, stderr } = await runProgram(
      uv.command,
      [...parameters, "--target", unfinished, ...packages],
      settings,
    );
    if (code !== 0) return skip(packages, stderr);
    // Another process may have installed the same packages meanwhile.
    await rename(unfinished, folder).catch(() => {});
    return { python, packages: folder };
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** Shared, because two installations would delete each other's folder. */
let installedUv: ReturnType<typeof installUv> | undefined;

function installUv() {
  return installTool({ package: "uv", version: "0.13.8", registry, command: "uv" });
}

export type PythonSdk = { python: string; packages: string };

function skip(packages: string[], problem: string): null {
  console.error(`${packages.join(", ")}: SKIPPED, PyPI does not provide it:\n${problem}`);
  return null;
}

/** Returns clients that share one Python program in `python/`. The program starts with the first conversation. */
export function pythonClients(
  sdk: PythonSdk | null,
  program: string,
  clients: Omit<SdkClient, "start">[],
): SdkClient[] {
  if (sdk === null) {
    for (const { name } of clients) test.skip(`${name} is not available from PyPI`, () => {});
    return [];
  }
  const owner = sharedByFile();
  let running: ReturnType<typeof openLines> | undefined;
  return clients.map((client) => ({
    ...client,
    start({ getWeather, ...options }): SdkConversation {
      running ??= openLines(start(sdk, program, owner));
      const { exchange } = running;
      const started = exchange({ options: { ...options, dialect: client.dialect } }, getWeather);
      // Prevents an unhandled rejection before `ask` awaits the promise.
      started.catch(() => {});
      const ask = async (message: object) => (await started, exchange(message, getWeather));
      return {
        ask: async (question) => (await ask({ ask: question })) as string,
        askForSummary: (question) => ask({ askForSummary: question }),
      };
    },
  }));
}

function start(sdk: PythonSdk, program: string, owner: ReturnType<typeof sharedByFile>): ChildProcess {
  const folder = path.join(import.meta.dirname, "python");
  const child = spawn(sdk.python, [path.join(folder, program)], {
    env: {
      PATH: process.env["PATH"],
      PYTHONPATH: [folder, sdk.packages].join(path.delimiter),
      // Compiling the packages takes 10 s of CPU time, so later runs reuse the bytecode.
      PYTHONPYCACHEPREFIX: `${sdk.packages}.bytecode`,
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  owner.teardown(() => child.kill());
  return child;
}

type Message = { answer?: unknown; error?: string; city?: string };

function openLines({ stdin, stdout }: ChildProcess) {
  if (stdin === null || stdout === null) throw new Error("The program has no pipes.");
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const send = (message: object) => stdin.write(`${JSON.stringify(message)}\n`);
  return {
    async exchange(message: object, getWeather: (input: { city: string }) => string): Promise<unknown> {
      send(message);
      for (;;) {
        const { value, done } = await lines.next();
        if (done) throw new Error("The program has ended.");
        const { answer, error, city } = JSON.parse(value) as Message;
        if (error !== undefined) throw new Error(error);
        if (city === undefined) return answer;
        send({ weather: getWeather({ city }) });
      }
    },
  };
}

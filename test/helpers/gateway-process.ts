import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ExecutionContext } from "ava";
import { eventually } from "./eventually.ts";

/**
 * Starts a gateway in a process of its own, for what only a process has: signals, an exit code, output. It gets these
 * environment variables and no others, and is killed with the test if it is still there.
 */
export function startGatewayProcess(
  t: Pick<ExecutionContext, "teardown">,
  environment: Record<string, string>,
  ...parameters: string[]
): GatewayProcess {
  // A test may have a Node of its own, which it takes away.
  const { TEST_NODE: node = process.execPath, ...variables } = environment;
  const child = spawn(node, [main, ...parameters], {
    env: { PATH: process.env["PATH"] ?? "", ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      said[stream] += text;
    });
  }
  // Not "exit", which may come before the last of what it says.
  const exited = new Promise<number | null>((resolve) => child.on("close", resolve));
  t.teardown(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  const listening = () =>
    eventually(() => {
      if (child.exitCode !== null) throw new Error(`The gateway ended: ${said.stderr}`);
      // What is printed ends with an empty line.
      return said.stdout.endsWith("\n\n") ? /listening at (http\S+)/.exec(said.stdout)?.[1] : undefined;
    }, 40_000);
  return { child, stdout: () => said.stdout, stderr: () => said.stderr, exited, listening };
}

const main = fileURLToPath(new URL("../../gateway/main.ts", import.meta.url));

/** A process of its own that runs `gateway/main.ts`, as `npm start` does. */
export type GatewayProcess = {
  child: ChildProcess;
  /** What it has printed so far. */
  stdout(): string;
  stderr(): string;
  /** Its exit code, once it has ended. */
  exited: Promise<number | null>;
  /** Where it says that it listens. Throws when it ended instead. */
  listening(): Promise<string>;
};

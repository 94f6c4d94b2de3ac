import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ExecutionContext } from "ava";
import { eventually } from "./eventually.ts";

/**
 * Starts a gateway process, to test signals, exit codes and output. The process receives only PATH and the
 * given environment variables, and is killed after the test.
 */
export function startGatewayProcess(
  t: Pick<ExecutionContext, "teardown">,
  environment: Record<string, string>,
  ...parameters: string[]
): GatewayProcess {
  // A test sets TEST_NODE to a copy of Node, which it renames while the gateway runs.
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
  // "exit" may precede the last output.
  const exited = new Promise<number | null>((resolve) => child.on("close", resolve));
  t.teardown(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  const listening = () =>
    eventually(() => {
      if (child.exitCode !== null) throw new Error(`The gateway ended: ${said.stderr}`);
      // The startup output ends with an empty line.
      return said.stdout.endsWith("\n\n") ? /listening at (http\S+)/.exec(said.stdout)?.[1] : undefined;
    });
  return { child, stdout: () => said.stdout, stderr: () => said.stderr, exited, listening };
}

const main = fileURLToPath(new URL("../../gateway/main.js", import.meta.url));

export type GatewayProcess = {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Resolves with the exit code, or null after a signal. */
  exited: Promise<number | null>;
  /** Resolves with the listening URL. Throws if the process exits first. */
  listening(): Promise<string>;
};

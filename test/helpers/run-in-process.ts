import { readConfig } from "../../gateway/config/config.ts";
import { createLog } from "../../gateway/log.ts";
import { systemRuntime } from "../../gateway/runtime.ts";
import { runCommand } from "../../gateway/start/run-command.ts";
import { explain } from "../../gateway/start/run-process.ts";
import { startGateway } from "../../gateway/start/start-gateway.ts";
import { patience } from "./test-gateway.ts";

/**
 * Runs a command, or without parameters starts and closes a gateway, as a process does. A process of its own would
 * cost more than a second of CPU time.
 */
export async function runInProcess(
  environment: Record<string, string>,
  ...parameters: string[]
): Promise<Outcome> {
  const lines: string[] = [];
  const print = (line: string) => void lines.push(`${line}\n`);
  const runtime = systemRuntime(createLog("silent", { write() {} }));
  const run = async () => {
    const config = readConfig({ ...patience, ...environment });
    if (parameters.length > 0) return runCommand(parameters, { config, runtime, print });
    await (await startGateway(config, runtime)).close();
    return 0;
  };
  try {
    return { exitCode: await run(), stdout: lines.join(""), stderr: "" };
  } catch (error) {
    return { exitCode: 1, stdout: lines.join(""), stderr: `${explain(error)}\n` };
  }
}

type Outcome = { exitCode: number; stdout: string; stderr: string };

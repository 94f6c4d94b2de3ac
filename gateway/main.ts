import { readConfig } from "./config.ts";
import { GatewayError, StartError } from "./errors.ts";
import { createLog, standardLogDestination } from "./log.ts";
import { runCommand } from "./run-command.ts";
import { systemRuntime } from "./runtime.ts";
import { startGateway } from "./start-gateway.ts";
import { welcome } from "./welcome.ts";

/** `node gateway/main.ts` serves until it is told to stop; with a command it does that and ends. */
async function main(parameters: string[]): Promise<void> {
  const config = readConfig();
  const runtime = systemRuntime(createLog(config.logLevel, standardLogDestination()));

  if (parameters.length > 0) {
    const print = (line: string) => void process.stdout.write(`${line}\n`);
    process.exitCode = await runCommand(parameters, { config, runtime, print });
    return;
  }

  const gateway = await startGateway(config, runtime);
  process.stdout.write(await welcome(gateway));

  let stoppingSince = 0;
  const stop = async () => {
    if (stoppingSince > 0) {
      // Whoever asks again means it. But a terminal tells npm and the gateway at once, and npm passes it on.
      if (runtime.now() - stoppingSince > sameSignalMs) process.exit(1);
      return;
    }
    stoppingSince = runtime.now();
    process.stdout.write("Finishing the requests under way. Once more to stop at once.\n");
    await gateway.close();
    process.exit(0);
  };
  process.on("SIGINT", () => void stop());
  process.on("SIGTERM", () => void stop());
}

const sameSignalMs = 500;

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  process.exit(1);
});

/** What stopped the start, in words; a stack only where it is a mistake of ours. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof StartError) return error.message;
  if (error.name === "KmsError") return `The data key cannot be had: ${error.message}.`;
  const { code } = error as NodeJS.ErrnoException;
  if (code === "EADDRINUSE")
    return "The port is in use already. Set PORT to another one, or to 0 for any that is free.";
  if (code === "EACCES" || code === "EPERM") return `Not allowed: ${error.message}`;
  if (error instanceof GatewayError) return error.message;
  if (error.name === "DatabaseUnavailableError")
    return `${error.message} Check DATABASE_URL, and that the database runs.`;
  if (code?.startsWith("SQLITE_"))
    return `The database file cannot be used: ${error.message}. Check DATABASE_URL.`;
  if (code?.startsWith("ER_")) return `The database refuses: ${error.message}. Check DATABASE_URL.`;
  return error.stack ?? error.message;
}

import { ConfigError, readConfig } from "./config.ts";
import { StartError } from "./errors.ts";
import { createLog, standardLogDestination } from "./log.ts";
import { systemRuntime } from "./runtime.ts";
import { openDatabase } from "./services.ts";
import { startGateway } from "./start-gateway.ts";
import { welcome } from "./welcome.ts";

/** `node gateway/main.ts` serves until it is told to stop; `node gateway/main.ts migrate` only updates the schema. */
async function main(command: string | undefined): Promise<void> {
  const config = readConfig();
  const runtime = systemRuntime(createLog(config.logLevel, standardLogDestination()));

  if (command === "migrate") {
    const database = await openDatabase(config);
    const ran = await database.migrate();
    process.stdout.write(
      ran.length > 0 ? `Ran ${ran.join(", ")}.\n` : "The database schema is up to date.\n",
    );
    await database.close();
    return;
  }
  if (command !== undefined)
    throw new ConfigError([`${command}: there is no such command; there is only "migrate"`]);

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

main(process.argv[2]).catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  process.exit(1);
});

/** What stopped the start, in words; a stack only where it is a mistake of ours. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof StartError) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  if (code === "EADDRINUSE")
    return "The port is in use already. Set PORT to another one, or to 0 for any that is free.";
  if (code === "EACCES" || code === "EPERM") return `Not allowed: ${error.message}`;
  if (error.name === "DatabaseUnavailableError")
    return `${error.message} Check DATABASE_URL, and that the database runs.`;
  if (code?.startsWith("SQLITE_"))
    return `The database file cannot be used: ${error.message}. Check DATABASE_URL.`;
  if (code?.startsWith("ER_")) return `The database refuses: ${error.message}. Check DATABASE_URL.`;
  return error.stack ?? error.message;
}

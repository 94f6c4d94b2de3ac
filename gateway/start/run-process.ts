import cluster from "node:cluster";
import { flushCompileCache } from "node:module";
import { type AddressInfo, createServer } from "node:net";
import { setFlagsFromString } from "node:v8";
import { type Config, readConfig } from "../config/config.ts";
import { GatewayError, StartError } from "../errors.ts";
import { createLog, standardLogDestination } from "../log.ts";
import { type Runtime, systemRuntime } from "../runtime.ts";
import { WorkerPool } from "./workers/worker-pool.ts";
import { toListenError } from "../http/server-address.ts";

/** Serves until the process is stopped, or runs a command. Prints a failure and exits with code 1. */
export async function runProcess(parameters: string[]): Promise<void> {
  // The umask keeps created files, such as the database and its log, private.
  process.umask(0o077);
  // Ctrl-C also ends a reader of the output, such as `tee`. The broken pipe must not end open requests.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  try {
    await serveOrObey(parameters);
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  }
}

async function serveOrObey(parameters: string[]): Promise<void> {
  const config = readConfig();
  const runtime = systemRuntime(createLog(config.logLevel, standardLogDestination()));

  if (parameters.length > 0) {
    const print = (line: string) => void process.stdout.write(`${line}\n`);
    const { runCommand } = await import("./run-command.ts");
    growHeap();
    process.exitCode = await runCommand(parameters, { config, runtime, print });
    return;
  }

  if (cluster.isPrimary && config.workers > 1) return serveWithWorkers(config, runtime);
  // The dynamic import keeps these modules out of the primary, which only supervises workers.
  const { startGateway } = await import("./start-gateway.ts");
  const start = async () => {
    const gateway = await startGateway(config, runtime, cluster.isWorker);
    growHeap();
    return gateway;
  };
  if (cluster.isWorker) return (await import("./workers/run-worker.ts")).runWorker(start);

  const gateway = await start();
  stopOnSignals(runtime, async () => {
    await gateway.close();
    return true;
  });
  const { welcome } = await import("./welcome.ts");
  process.stdout.write(await welcome(gateway));
}

/**
 * Lets V8 enlarge the space for new objects, which `main.js` keeps small. Writes the compile cache first,
 * because V8 rejects code that was compiled with other flags.
 */
function growHeap(): void {
  flushCompileCache();
  setFlagsFromString("--semi-space-growth-factor=2");
}

async function serveWithWorkers(config: Config, runtime: Runtime): Promise<void> {
  const { workers: count, metrics } = config;
  const workers = new WorkerPool({ count, port: await findPort(config), runtime });
  if (metrics) {
    const { serveWorkerMetrics } = await import("./workers/serve-worker-metrics.ts");
    await serveWorkerMetrics({ ...metrics, log: runtime.log, workers });
  }
  // Signals are handled before the start, because the first worker already serves while the others start.
  stopOnSignals(runtime, () => workers.stop());
  const welcomeText = await workers.start();
  if (workers.isStopping) return;
  if (welcomeText === null) process.exit(1);
  process.stdout.write(welcomeText);
}

/** @param stop returns whether everything ended cleanly */
function stopOnSignals(runtime: Runtime, stop: () => Promise<boolean>): void {
  let stoppingSince: number | null = null;
  const onSignal = async () => {
    if (stoppingSince !== null) {
      // With npm, one Ctrl-C causes two signals: one from the terminal, and one forwarded by npm. A later
      // signal ends the process.
      if (runtime.monotonicNow() - stoppingSince > sameSignalMs) process.exit(1);
      return;
    }
    stoppingSince = runtime.monotonicNow();
    process.stdout.write("Finishing open requests. Press Ctrl-C again to stop at once.\n");
    process.exit((await stop()) ? 0 : 1);
  };
  process.on("SIGINT", () => void onSignal());
  process.on("SIGTERM", () => void onSignal());
}

const sameSignalMs = 500;

/** Includes the stack trace only for an unexpected error. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof StartError) return error.message;
  if (error.name === "KmsError") return `The data key is unavailable: ${error.message}.`;
  const { code } = error as NodeJS.ErrnoException;
  if (code === "EACCES" || code === "EPERM")
    return `The gateway lacks a permission: ${error.message}. Check the owner and the mode of the file.`;
  if (error instanceof GatewayError || error.name === "OldSchemaError") return error.message;
  if (error.name === "DatabaseUnavailableError")
    return `${error.message} Check DATABASE_URL, and that the database is running.`;
  if (code?.startsWith("SQLITE_"))
    return `The database file is unusable: ${error.message}. Check DATABASE_URL.`;
  if (code?.startsWith("ER_"))
    return `The database refused the connection: ${error.message}. Check DATABASE_URL.`;
  return error.stack ?? error.message;
}

/** Finds a port for port 0. Throws if the port is in use, because two gateways' workers could share it on Linux. */
async function findPort({ host, port }: { host: string; port: number }): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(toListenError(error, { host, port })));
    server.listen({ host, port, exclusive: true }, resolve);
  });
  const { port: found } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return found;
}

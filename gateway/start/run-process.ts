import cluster from "node:cluster";
import { type AddressInfo, createServer } from "node:net";
import { type Config, readConfig } from "../config/config.ts";
import { GatewayError, StartError } from "../errors.ts";
import { createLog, standardLogDestination } from "../log.ts";
import { type Runtime, systemRuntime } from "../runtime.ts";
import { WorkerPool } from "./workers/worker-pool.ts";
import { toListenError } from "../http/server-address.ts";

/** Serves until it is told to stop; with a command it does that and ends. What cannot be done is said, with exit code 1. */
export async function runProcess(parameters: string[]): Promise<void> {
  // Whatever it creates, such as the database and its log, is for its own user.
  process.umask(0o077);
  // Whoever reads the output may be gone, such as the `tee` behind it, which a Ctrl-C ends, too: requests go on.
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
    process.exitCode = await runCommand(parameters, { config, runtime, print });
    return;
  }

  if (cluster.isPrimary && config.workers > 1) return serveWithWorkers(config, runtime);
  // Who looks after the workers does without all that they load.
  const { startGateway } = await import("./start-gateway.ts");
  const start = () => startGateway(config, runtime, cluster.isWorker);
  if (cluster.isWorker) return (await import("./workers/run-worker.ts")).runWorker(start);

  const gateway = await start();
  stopWhenTold(runtime, async () => {
    await gateway.close();
    return true;
  });
  const { welcome } = await import("./welcome.ts");
  process.stdout.write(await welcome(gateway));
}

async function serveWithWorkers(config: Config, runtime: Runtime): Promise<void> {
  const { workers: count, metrics } = config;
  const workers = new WorkerPool({ count, port: await findPort(config), runtime });
  if (metrics) {
    const { serveWorkerMetrics } = await import("./workers/serve-worker-metrics.ts");
    await serveWorkerMetrics({ ...metrics, log: runtime.log, workers });
  }
  // From now on: the first worker serves while the others still start.
  stopWhenTold(runtime, () => workers.stop());
  const said = await workers.start();
  if (workers.isStopping) return;
  if (said === null) process.exit(1);
  process.stdout.write(said);
}

/** @param stop resolves with whether everything has ended as it should */
function stopWhenTold(runtime: Runtime, stop: () => Promise<boolean>): void {
  let stoppingSince = 0;
  const onSignal = async () => {
    if (stoppingSince > 0) {
      // Whoever asks again means it. But a terminal tells npm and the gateway at once, and npm passes it on.
      if (runtime.now() - stoppingSince > sameSignalMs) process.exit(1);
      return;
    }
    stoppingSince = runtime.now();
    process.stdout.write("Finishing the requests under way. Once more to stop at once.\n");
    process.exit((await stop()) ? 0 : 1);
  };
  process.on("SIGINT", () => void onSignal());
  process.on("SIGTERM", () => void onSignal());
}

const sameSignalMs = 500;

/** What stopped the start, in words; a stack only where it is a mistake of ours. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof StartError) return error.message;
  if (error.name === "KmsError") return `The data key cannot be had: ${error.message}.`;
  const { code } = error as NodeJS.ErrnoException;
  if (code === "EACCES" || code === "EPERM") return `Not allowed: ${error.message}`;
  if (error instanceof GatewayError) return error.message;
  if (error.name === "DatabaseUnavailableError")
    return `${error.message} Check DATABASE_URL, and that the database runs.`;
  if (code?.startsWith("SQLITE_"))
    return `The database file cannot be used: ${error.message}. Check DATABASE_URL.`;
  if (code?.startsWith("ER_")) return `The database refuses: ${error.message}. Check DATABASE_URL.`;
  return error.stack ?? error.message;
}

/**
 * The port for all workers: a free one for 0. Throws when somebody else has it, which the workers would not notice, since
 * they share it.
 */
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

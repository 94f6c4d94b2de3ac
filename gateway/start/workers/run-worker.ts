import type { RunningGateway } from "../start-gateway.ts";
import { welcome } from "../welcome.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

/**
 * One of several processes behind one port: serves until the primary says to stop, or a SIGTERM of its own does. A
 * terminal's Ctrl-C reaches every process, and it is the primary that decides what it means.
 */
export async function runWorker(start: () => Promise<RunningGateway>): Promise<void> {
  process.on("SIGINT", () => {});
  // Listened for from the beginning: a worker that has just taken a dead one's place may have to stop while it starts.
  const stopping = new Promise<void>((resolve) => {
    process.on("SIGTERM", () => resolve());
    process.on("message", ({ kind }: ToWorker) => {
      if (kind === "stop") resolve();
    });
  });
  const gateway = await start();
  const { metrics } = gateway;
  const tell = (message: FromWorker) => process.send?.(message);
  process.on("message", async ({ kind }: ToWorker) => {
    if (kind === "metrics" && metrics) tell({ kind, metrics: await metrics.read() });
  });
  tell({ kind: "started", welcome: await welcome(gateway) });

  await stopping;
  await gateway.close();
  process.exit(0);
}

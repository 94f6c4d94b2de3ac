import type { RunningGateway } from "../start-gateway.ts";
import { welcome } from "../welcome.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

/** Serves until the primary or a SIGTERM stops it. Ctrl-C sends SIGINT to all, so only the primary handles it. */
export async function runWorker(start: () => Promise<RunningGateway>): Promise<void> {
  process.on("SIGINT", () => {});
  // The listeners are registered before the start, because a worker may have to stop while it starts.
  const stopping = new Promise<void>((resolve) => {
    process.on("SIGTERM", () => resolve());
    process.on("message", ({ kind }: ToWorker) => {
      if (kind === "stop") resolve();
    });
  });
  const gateway = await start();
  const { metrics } = gateway;
  const send = (message: FromWorker) => process.send?.(message);
  process.on("message", async ({ kind }: ToWorker) => {
    if (kind === "metrics" && metrics) send({ kind, metrics: await metrics.read() });
  });
  send({ kind: "started", welcome: await welcome(gateway) });

  await stopping;
  await gateway.close();
  process.exit(0);
}

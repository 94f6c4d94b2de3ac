import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { readConfig } from "../../gateway/config/config.ts";
import { createLog, standardLogDestination } from "../../gateway/log.ts";
import { systemRuntime } from "../../gateway/runtime.ts";
import { startGateway } from "../../gateway/start/start-gateway.ts";
import { answerParent, cpuMicroseconds } from "../bench/measured-process.ts";

const folder = mkdtempSync(path.join(tmpdir(), "gateway-attack-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const delay = monitorEventLoopDelay({ resolution: 1 });

const answers = {
  async start(upstreamPort: number) {
    const environment = {
      PORT: "0",
      DATA_DIR: folder,
      DATABASE_URL: `sqlite:${path.join(folder, "gateway.db")}`,
      UPSTREAM_PRIVATE_HOSTS: `127.0.0.1:${upstreamPort}`,
    };
    const runtime = systemRuntime(createLog("error", standardLogDestination()));
    const { url, services } = await startGateway(readConfig(environment), runtime);
    return { url, setUpToken: services.accounts.setUpToken };
  },

  cpu: cpuMicroseconds,

  startWatch() {
    delay.reset();
    delay.enable();
  },

  /** Returns the longest event loop delay since `startWatch`, in ms. */
  stopWatch(): number {
    delay.disable();
    return delay.max / 1e6;
  },
};

export type WatchedGateway = typeof answers;

answerParent(answers);

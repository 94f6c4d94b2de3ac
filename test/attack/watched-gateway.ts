import { monitorEventLoopDelay } from "node:perf_hooks";
import { answerParent, cpuMicroseconds } from "../bench/measured-process.ts";
import { startOwnGateway } from "../bench/own-gateway.ts";

const delay = monitorEventLoopDelay({ resolution: 1 });

const answers = {
  async start(upstreamPort: number) {
    const environment = { UPSTREAM_PRIVATE_HOSTS: `127.0.0.1:${upstreamPort}` };
    const { url, services } = await startOwnGateway(environment);
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

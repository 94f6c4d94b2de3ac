import { writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";

/** Profiles this process during one case. `--cpu-prof` would include the startup and all cases. */
export class CpuProfiler {
  readonly #session = new Session();

  async start(): Promise<void> {
    this.#session.connect();
    await this.#session.post("Profiler.enable");
    await this.#session.post("Profiler.setSamplingInterval", { interval: samplingIntervalUs });
    await this.#session.post("Profiler.start");
  }

  /** Writes a `.cpuprofile` for Chrome's developer tools, VS Code or speedscope. */
  async stop(file: string): Promise<void> {
    const { profile } = await this.#session.post("Profiler.stop");
    this.#session.disconnect();
    writeFileSync(file, JSON.stringify(profile));
  }
}

const samplingIntervalUs = 200;

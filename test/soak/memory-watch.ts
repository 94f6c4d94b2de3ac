import { readdirSync, readFileSync } from "node:fs";

/**
 * Samples the memory and descriptors of a Linux process. `take` returns means, because a single value depends
 * on the last garbage collection.
 */
export class MemoryWatch {
  readonly #processId: number;
  readonly #timer: NodeJS.Timeout;
  #samples: Sample[] = [];

  constructor(processId: number) {
    this.#processId = processId;
    this.#timer = setInterval(() => this.#sample(), sampleIntervalMs);
  }

  /** Returns the means since the last call. */
  take(): Sample {
    if (this.#samples.length === 0) this.#sample();
    const samples = this.#samples;
    this.#samples = [];
    const mean = (name: keyof Sample) =>
      samples.reduce((sum, sample) => sum + sample[name], 0) / samples.length;
    return { rssMib: mean("rssMib"), descriptors: mean("descriptors") };
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    const folder = `/proc/${this.#processId}`;
    const status = readFileSync(`${folder}/status`, "utf8");
    this.#samples.push({
      rssMib: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024,
      descriptors: readdirSync(`${folder}/fd`).length,
    });
  }
}

export type Sample = { rssMib: number; descriptors: number };

const sampleIntervalMs = 1_000;

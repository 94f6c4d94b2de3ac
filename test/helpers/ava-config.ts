import { hash } from "node:crypto";
import { availableParallelism } from "node:os";
import path from "node:path";
import type { Event, ObservedRun } from "ava/internal";
import manifest from "../../package.json" with { type: "json" };
import { isFull } from "./scale.ts";

/** These files measure times and memory, so nothing else may run beside them. */
export const measurements = "test/**/*.alone.test.ts";

/**
 * Sends the test counts to run-ava.ts. ava's default reporter prints no total after a failure, and its TAP reporter
 * crashes after a timeout (https://github.com/avajs/ava/issues/3461).
 */
export default {
  ...manifest.ava,
  // At full scale, the files run one after another, so measurements pass, too.
  files: manifest.ava.files.filter((pattern) => !isFull || pattern !== `!${measurements}`),
  // Unlike threads, processes use the compile cache, which halves the load time of a file.
  workerThreads: false,
  // There are two more processes than cores, because tests also wait for clocks, disks and databases.
  concurrency: availableParallelism() + 2,
  sortTestFiles: (one: string, other: string) => positionOf(one) - positionOf(other),
  nonSemVerExperiments: { observeRunsFromConfig: true },
  async observeRun({ events }: ObservedRun): Promise<void> {
    // After a disconnect, no process reads the results. The listener alone must not keep ava alive.
    process.on("disconnect", () => process.exit(1));
    process.channel?.unref();
    const times = new FileTimes();
    let latest: Stats | undefined;
    let sentAt = 0;
    for await (const event of events) {
      if ("testFile" in event) times.note(event.testFile);
      if (event.type === "stats") latest = event.stats;
      const isDue = event.type === "end" || performance.now() >= sentAt + sendIntervalMs;
      if (!latest || !isDue) continue;
      sentAt = performance.now();
      process.send?.(toCounts(latest, times));
    }
  },
};

/** Sending counts with each of thousands of events would keep ava busy for half a minute. */
const sendIntervalMs = 500;

type Stats = Extract<Event, { type: "stats" }>["stats"];

function toCounts(stats: Stats, times: FileTimes): TestCounts {
  return {
    slowest: times.slowest(5),
    passed: stats.passedTests + stats.passedKnownFailingTests,
    skipped: stats.skippedTests + stats.todoTests,
    // Tests that remain at the end have failed. Later counts replace earlier ones.
    failed:
      stats.failedTests +
      stats.failedHooks +
      stats.remainingTests +
      stats.uncaughtExceptions +
      stats.unhandledRejections +
      stats.internalErrors,
  };
}

/**
 * Mixes the folders, because files of the same folder compete for the same resources. Slow files are in the first
 * three quarters, so that none runs alone at the end.
 */
function positionOf(file: string): number {
  const position = hash("sha1", path.relative("", file), "buffer").readUInt32BE() / 2 ** 32;
  return isLong(file) ? position * 0.75 : position;
}

function isLong(file: string): boolean {
  return /\/test\/(attack|workers|chaos|credentials|console|sdks|infra)\//.test(file);
}

export type TestCounts = { passed: number; failed: number; skipped: number; slowest: FileTime[] };

type FileTime = { file: string; seconds: number };

/** Measures each file from its first event to its last. */
class FileTimes {
  readonly #times = new Map<string, { from: number; to: number }>();

  note(file: string): void {
    const now = performance.now();
    const time = this.#times.get(file);
    if (time) time.to = now;
    else this.#times.set(file, { from: now, to: now });
  }

  slowest(count: number): FileTime[] {
    return [...this.#times]
      .map(([file, { from, to }]) => ({
        file: path.relative("", file),
        seconds: Math.round((to - from) / 1_000),
      }))
      .toSorted((one, other) => other.seconds - one.seconds)
      .slice(0, count);
  }
}

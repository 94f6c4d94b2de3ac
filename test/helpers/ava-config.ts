import { availableParallelism } from "node:os";
import path from "node:path";
import type { Event, ObservedRun } from "ava/internal";
import manifest from "../../package.json" with { type: "json" };

/**
 * ava's configuration under `npm test`: that of package.json, and ava's counts are sent to run.ts as they grow.
 * ava's reporter for people has no total when a test fails, and its TAP reporter breaks off where a test never ends
 * (https://github.com/avajs/ava/issues/3461).
 */
export default {
  ...manifest.ava,
  // Processes, because threads neither fill nor use the compile cache, which saves a file half of what it takes to load it.
  workerThreads: false,
  // One more than there are cores: tests also wait, for clocks, disks and databases.
  concurrency: availableParallelism() + 1,
  // What takes longest must not begin when all else has ended.
  sortTestFiles: (one: string, other: string) =>
    Number(isLong(other)) - Number(isLong(one)) || (one < other ? -1 : 1),
  nonSemVerExperiments: { observeRunsFromConfig: true },
  async observeRun({ events }: ObservedRun): Promise<void> {
    // Whoever wants the counts is gone: nobody reads the rest either. Listening alone must not keep ava alive.
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

/** To send them with each of the thousands of events would keep ava busy for half a minute. */
const sendIntervalMs = 500;

type Stats = Extract<Event, { type: "stats" }>["stats"];

function toCounts(stats: Stats, times: FileTimes): TestCounts {
  return {
    slowest: times.slowest(5),
    passed: stats.passedTests + stats.passedKnownFailingTests,
    skipped: stats.skippedTests + stats.todoTests,
    // Until the end, what remains is simply still to come; after it, it never ended.
    failed:
      stats.failedTests +
      stats.failedHooks +
      stats.remainingTests +
      stats.uncaughtExceptions +
      stats.unhandledRejections +
      stats.internalErrors,
  };
}

function isLong(file: string): boolean {
  return /\/test\/(attack|workers|chaos|credentials|console)\//.test(file);
}

export type TestCounts = { passed: number; failed: number; skipped: number; slowest: FileTime[] };

type FileTime = { file: string; seconds: number };

/** From the first that is heard of a file to the last. */
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

import type { Database } from "../../../db/database.ts";
import type { LimitUseRow } from "../../../db/entities/limit-use.ts";
import { type Meter, secondsPerMinute } from "./meter.ts";

type ShareExchangeOptions = {
  database: Database;
  now: () => number;
  monotonicNow: () => number;
  processId: string;
  meters: ReadonlyMap<string, Meter>;
  intervalMs: number;
};

/**
 * Publishes the use of this process and reads the use of other processes, so that all processes share each
 * limit. See `limits/README.md`.
 */
export class ShareExchange {
  readonly #options: ShareExchangeOptions;
  /** Meters that include the other processes' use of a full minute. */
  readonly #received = new WeakSet<Meter>();
  /** The number of other processes with any use in the minute before the last count. */
  #others = 0;
  #countedIn = 0;
  #heardAt: number | null = null;
  #readFrom = 0;
  /** The next reread ends before this second. Rereads go backwards through the minute, part by part. */
  #rereadBefore = 0;
  #nextPruneAt = 0;

  constructor(options: ShareExchangeOptions) {
    this.#options = options;
  }

  /**
   * 1 while the use of other processes is known. After two intervals without a successful run, the process limits
   * itself to its share.
   */
  get sharedBy(): number {
    const { monotonicNow, intervalMs } = this.#options;
    return this.#heardAt !== null && monotonicNow() - this.#heardAt > 2 * intervalMs ? this.#others + 1 : 1;
  }

  async run(): Promise<void> {
    const { meters, now, monotonicNow } = this.#options;
    const startedAt = monotonicNow();
    if (meters.size === 0) {
      this.#heardAt = startedAt;
      return;
    }
    const second = Math.floor(now() / 1000);
    await this.#publish(second);
    await this.#receive(second);
    this.#heardAt = startedAt;
    const at = monotonicNow();
    if (at < this.#nextPruneAt) return;
    this.#nextPruneAt = at + secondsPerMinute * 1000;
    await this.#options.database.write(({ limitUses }) =>
      limitUses.deleteOutside(second - 2 * secondsPerMinute, second + 2 * secondsPerMinute),
    );
  }

  async #publish(second: number): Promise<void> {
    const { meters, processId, database } = this.#options;
    const shared: { meter: Meter; from: number }[] = [];
    const uses: LimitUseRow[] = [];
    for (const [subjectId, meter] of meters) {
      if (meter.unsharedFrom === null) continue;
      const from = Math.max(meter.unsharedFrom, second - secondsPerMinute + 1);
      shared.push({ meter, from });
      meter.unsharedFrom = null;
      for (let at = from; at <= second; at++) {
        const [requests, tokens] = [meter.requests.ownAt(at), Math.round(meter.tokens.ownAt(at))];
        uses.push({ processId, subjectId, second: at, requests, tokens });
      }
    }
    if (uses.length === 0) return;
    try {
      await database.write(({ limitUses }) => limitUses.put(uses));
    } catch (error) {
      for (const { meter, from } of shared) meter.unsharedFrom = Math.min(meter.unsharedFrom ?? from, from);
      throw error;
    }
  }

  async #receive(second: number): Promise<void> {
    const { meters, processId, database } = this.#options;
    const fresh = [...meters].filter(([, meter]) => !this.#received.has(meter)).slice(0, freshMax);
    const freshIds = fresh.map(([id]) => id);
    const minuteFrom = second - secondsPerMinute + 1;
    if (second !== this.#countedIn) {
      this.#others = await database.read(({ limitUses }) => limitUses.countOthers(processId, minuteFrom));
      this.#countedIn = second;
    }
    const again = this.#nextToReread(minuteFrom);
    const uses = await database.read(async ({ limitUses }) => [
      ...(again ? await limitUses.ofOthers(processId, again) : []),
      ...(await limitUses.ofOthers(processId, { from: this.#readFrom })),
      ...(await limitUses.ofOthers(processId, { from: minuteFrom, subjectIds: freshIds })),
    ]);
    for (const { subjectId, second: at, requests, tokens } of uses) {
      const meter = meters.get(subjectId);
      meter?.requests.setOthers(second, at, requests);
      meter?.tokens.setOthers(second, at, tokens);
    }
    for (const [, meter] of fresh) this.#received.add(meter);
    this.#readFrom = second - lateSeconds;
    if (again) this.#rereadBefore = again.from;
  }

  /**
   * Each run rereads one part of the minute, because corrected estimates and late processes change old seconds.
   * With 3,000 keys and two other processes, MariaDB needs 2.3 s for the minute and 0.15 s for 8 seconds.
   */
  #nextToReread(minuteFrom: number): { from: number; before: number } | null {
    // Without other processes, nothing can have changed.
    if (this.#others === 0 || this.#readFrom <= minuteFrom) return null;
    const before =
      this.#rereadBefore > minuteFrom && this.#rereadBefore <= this.#readFrom
        ? this.#rereadBefore
        : this.#readFrom;
    const seconds = Math.ceil((secondsPerMinute * this.#options.intervalMs) / rereadMs);
    return { from: Math.max(minuteFrom, before - seconds), before };
  }
}

/** The maximum number of new meters per run. Later runs read the remaining meters. */
const freshMax = 500;

/** Other processes usually publish a second's use within this delay, despite clock differences. */
const lateSeconds = 5;

/** The time in which the whole minute is read again. */
const rereadMs = 2_000;

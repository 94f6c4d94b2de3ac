import type { Database } from "../../../db/database.ts";
import type { LimitUseRow } from "../../../db/entities/limit-use.ts";
import type { Meter } from "./meter.ts";
import { secondsPerMinute } from "./sliding-minute.ts";

type ShareExchangeOptions = {
  database: Database;
  now: () => number;
  processId: string;
  meters: ReadonlyMap<string, Meter>;
  /** How often it is run. */
  intervalMs: number;
};

/**
 * Tells other processes what this one has let through, and hears what they have: so that a limit is one limit, however many
 * processes keep it. What they let through since is not known yet, which is how far they can pass it together.
 */
export class ShareExchange {
  readonly #options: ShareExchangeOptions;
  /** What others have said of all its minute. */
  readonly #heard = new WeakSet<Meter>();
  /** Other processes that used anything in the minute before they were last counted. */
  #others = 0;
  #countedIn = 0;
  #heardAt = Number.POSITIVE_INFINITY;
  #readFrom = 0;
  /** Where the minute is read again, from its newest seconds back to its oldest, a part of it in each run. */
  #rereadBefore = 0;
  #nextPruneAt = 0;

  constructor(options: ShareExchangeOptions) {
    this.#options = options;
  }

  /**
   * How many processes a limit has to be divided among: one, while it is known what the others do. A process that has not
   * heard of them for two intervals keeps to its share, whatever the reason: a database that is slow or away, a machine
   * that has more to do than it can.
   */
  get sharedBy(): number {
    const { now, intervalMs } = this.#options;
    return now() - this.#heardAt > 2 * intervalMs ? this.#others + 1 : 1;
  }

  async run(): Promise<void> {
    const { meters, now } = this.#options;
    const startedAt = now();
    if (meters.size === 0) {
      this.#heardAt = startedAt;
      return;
    }
    const second = Math.floor(now() / 1000);
    await this.#tell(second);
    await this.#hear(second);
    this.#heardAt = startedAt;
    if (second < this.#nextPruneAt) return;
    this.#nextPruneAt = second + secondsPerMinute;
    await this.#options.database.write(({ limitUses }) =>
      limitUses.deleteBefore(second - 2 * secondsPerMinute),
    );
  }

  async #tell(second: number): Promise<void> {
    const { meters, processId, database } = this.#options;
    const told: { meter: Meter; from: number }[] = [];
    const uses: LimitUseRow[] = [];
    for (const [subjectId, meter] of meters) {
      if (meter.untoldFrom === null) continue;
      const from = Math.max(meter.untoldFrom, second - secondsPerMinute + 1);
      told.push({ meter, from });
      meter.untoldFrom = null;
      for (let at = from; at <= second; at++) {
        const [requests, tokens] = [meter.requests.ownAt(at), Math.round(meter.tokens.ownAt(at))];
        uses.push({ processId, subjectId, second: at, requests, tokens });
      }
    }
    if (uses.length === 0) return;
    try {
      await database.write(({ limitUses }) => limitUses.put(uses));
    } catch (error) {
      for (const { meter, from } of told) meter.untoldFrom = Math.min(meter.untoldFrom ?? from, from);
      throw error;
    }
  }

  async #hear(second: number): Promise<void> {
    const { meters, processId, database } = this.#options;
    const fresh = [...meters].filter(([, meter]) => !this.#heard.has(meter)).slice(0, freshMax);
    const freshIds = fresh.map(([id]) => id);
    const minuteFrom = second - secondsPerMinute + 1;
    // Once a second is enough.
    if (second > this.#countedIn) {
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
    for (const [, meter] of fresh) this.#heard.add(meter);
    this.#readFrom = second - lateSeconds;
    if (again) this.#rereadBefore = again.from;
  }

  /**
   * A second that is long over changes when tokens are given back to it, or a process tells late what it let through. Not all
   * the minute at once: of 3,000 keys and two other processes MariaDB had it in 2.3 s, and a part of 8 seconds in 0.15 s.
   */
  #nextToReread(minuteFrom: number): { from: number; before: number } | null {
    // Nobody else could have changed anything.
    if (this.#others === 0 || this.#readFrom <= minuteFrom) return null;
    const before = this.#rereadBefore > minuteFrom ? this.#rereadBefore : this.#readFrom;
    const seconds = Math.ceil((secondsPerMinute * this.#options.intervalMs) / rereadMs);
    return { from: Math.max(minuteFrom, before - seconds), before };
  }
}

/** The rest has its turn in the next run. */
const freshMax = 500;

/** What others say of a second is known in the next run, if they are no later than this, their clocks' difference included. */
const lateSeconds = 5;

/** In which all the minute is read again. */
const rereadMs = 2_000;

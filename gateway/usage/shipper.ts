import { readFile } from "node:fs/promises";
import type { Database } from "../../db/database.ts";
import type { Log } from "../log.ts";
import { decodeRecords, type UsageRecord } from "./record-format.ts";
import type { Segment } from "./segment.ts";

type ShipperOptions = {
  database: Database;
  log: Log;
  batchRecordsMax: number;
  /** Told of records that have come to the database. */
  shipped?: (records: readonly UsageRecord[]) => void;
};

/** Brings records to the database, in batches. Ids make it harmless to bring one twice. */
export class Shipper {
  readonly #options: ShipperOptions;
  #isFailing = false;

  constructor(options: ShipperOptions) {
    this.#options = options;
  }

  /** Returns false when the database did not take all of it. */
  async shipSegment({ path, waiting }: Pick<Segment, "path" | "waiting">): Promise<boolean> {
    if (waiting) return this.ship(waiting);
    const decoded = decodeRecords(await readFile(path));
    const { tornBytes } = decoded;
    if (tornBytes > 0) this.#options.log.warn({ path, tornBytes }, "a usage record was torn by a crash");
    return this.ship(decoded.records);
  }

  async ship(records: readonly UsageRecord[]): Promise<boolean> {
    // Whoever is to be told may still be starting.
    if (records.length === 0) return true;
    const { database, log, batchRecordsMax, shipped } = this.#options;
    try {
      for (let from = 0; from < records.length; from += batchRecordsMax) {
        const batch = records.slice(from, from + batchRecordsMax);
        await database.write(({ usageRecords }) => usageRecords.insertAll(batch));
      }
      this.#isFailing = false;
      shipped?.(records);
      return true;
    } catch (error) {
      if (!this.#isFailing) log.error({ error }, "cannot write usage records; they are kept and tried again");
      this.#isFailing = true;
      return false;
    }
  }
}

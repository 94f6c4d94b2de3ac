import type { Database } from "../../db/database.ts";
import { randomUsage, usualWorld } from "./random-usage.ts";
import { seededRandom } from "./seeded-random.ts";

/** Writes usage records evenly spread over a period. */
export async function fillHistory(database: Database, { rows, from, to }: Filling): Promise<void> {
  const random = seededRandom(1);
  for (let first = 0; first < rows; first += batchRows) {
    const records = Array.from({ length: Math.min(batchRows, rows - first) }, (_, index) => {
      const createdAt = new Date(from + Math.floor(((to - from) * (first + index)) / rows));
      return randomUsage(random, createdAt, usualWorld);
    });
    await database.write(({ usageRecords }) => usageRecords.insertAll(records));
  }
}

type Filling = { rows: number; from: number; to: number };

const batchRows = 2_000;

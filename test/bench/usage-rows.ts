import type { Database } from "../../db/database.ts";
import { randomUsage, usualWorld } from "../helpers/random-usage.ts";
import { seededRandom } from "../helpers/seeded-random.ts";

type Filling = {
  rows: number;
  from: number;
  to: number;
  batchRows: number;
  cpuUs(): number;
  say(line: string): void;
};

/** Writes usage records evenly spread over a period. Returns a line with the write rate and the CPU time. */
export async function fillHistory(database: Database, filling: Filling): Promise<string> {
  const { rows, from, to, batchRows, cpuUs, say } = filling;
  const random = seededRandom(1);
  let made = 0;
  let writingMs = 0;
  let writingCpuUs = 0;
  while (made < rows) {
    // The batches are created first, so that only writing is measured.
    const batches: ReturnType<typeof randomUsage>[][] = [];
    for (let batch = 0; batch < batchesAtOnce && made < rows; batch++) {
      const size = Math.min(batchRows, rows - made);
      const first = made;
      batches.push(
        Array.from({ length: size }, (_, index) =>
          randomUsage(
            random,
            new Date(from + Math.floor(((to - from) * (first + index)) / rows)),
            usualWorld,
          ),
        ),
      );
      made += size;
    }
    const [startedAt, cpuBefore] = [performance.now(), cpuUs()];
    // Two writers run in parallel, as with two processes.
    await Promise.all(
      [0, 1].map(async (lane) => {
        for (let index = lane; index < batches.length; index += 2) {
          await database.write(({ usageRecords }) => usageRecords.insertAll(batches[index] ?? []));
        }
      }),
    );
    writingMs += performance.now() - startedAt;
    writingCpuUs += cpuUs() - cpuBefore;
    if (made % 200_000 === 0) say(`${made.toLocaleString("en")} records`);
  }
  const perSecond = Math.round((rows / writingMs) * 1000).toLocaleString("en");
  return `${perSecond} records/s written in batches of ${batchRows}, ${(writingCpuUs / rows).toFixed(1)} µs of CPU each, the database's with it`;
}

const batchesAtOnce = 20;

import { saveCsv } from "#lib/csv.ts";
import { formatCount } from "#lib/format/numbers.ts";
import { toDateText } from "#lib/keys/expiry.ts";
import { formatCsv } from "./usage-record.ts";
import { listUsageRecords } from "./list-usage-records.ts";
import type { UsageRecord } from "./usage-record.ts";
import type { UsageFilter } from "./usage-filter.ts";

/**
 * Saves all records that match the filter as a CSV file. `onprogress` receives the number of loaded records. Throws if
 * there are more than `recordsMax`.
 */
export async function exportCsv(
  filter: UsageFilter,
  { signal, onprogress }: { signal: AbortSignal; onprogress: (count: number) => void },
): Promise<void> {
  const records: UsageRecord[] = [];
  let after: string | undefined;
  do {
    const page = await listUsageRecords(filter, { first: recordsPerPage, after });
    signal.throwIfAborted();
    records.push(...page.items);
    onprogress(records.length);
    if (records.length > recordsMax) {
      throw new Error(
        `More than ${formatCount(recordsMax)} records match. Choose a shorter period or add a filter.`,
      );
    }
    after = page.nextCursor ?? undefined;
  } while (after !== undefined);
  // The end is exclusive: a period until midnight ends the day before.
  const days = [Date.parse(filter.from), Date.parse(filter.to) - 1].map(toDateText);
  saveCsv(formatCsv(records), `usage-${days.join("-to-")}.csv`);
}

const recordsPerPage = 500;
const recordsMax = 200_000;

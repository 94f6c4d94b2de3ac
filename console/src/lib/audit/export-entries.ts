import { type CsvColumn, formatTable, saveCsv } from "#lib/csv.ts";
import { formatCount } from "#lib/format/numbers.ts";
import { api, type Inputs, type Outputs } from "#lib/session/api.ts";
import { describeDetails } from "./describe-details.ts";

type Entry = Outputs["audit"]["list"]["items"][number];

/** Saves all matching entries as a CSV file. Throws if more than `entriesMax` match. */
export async function exportEntries(filter: Inputs["audit"]["list"], signal: AbortSignal): Promise<void> {
  const entries: Entry[] = [];
  let cursor: string | null = null;
  do {
    const page: Outputs["audit"]["list"] = await api.audit.list.query(
      { ...filter, cursor, limit: 200 },
      { signal },
    );
    entries.push(...page.items);
    if (entries.length > entriesMax) {
      throw new Error(
        `More than ${formatCount(entriesMax)} entries match. Choose a shorter period or add filters.`,
      );
    }
    cursor = page.nextCursor;
  } while (cursor !== null);
  saveCsv(formatTable(columns, entries), "audit-log.csv");
}

const entriesMax = 100_000;

const columns: CsvColumn<Entry>[] = [
  ["id", ({ id }) => id],
  ["time_utc", ({ at }) => at],
  ["actor_id", ({ actor }) => actor?.id ?? null],
  ["actor_name", ({ actor }) => actor?.name ?? null],
  ["address", ({ address }) => address],
  ["action", ({ action }) => action],
  ["target_id", ({ entity }) => entity.id],
  ["target_name", ({ entity }) => entity.name],
  [
    "details",
    ({ details }) =>
      describeDetails(details)
        .map(({ name, text }) => (name ? `${name}: ${text}` : text))
        .join("\n"),
  ],
];

import { Between, type EntityManager, LessThan } from "typeorm";
import { ProviderHalfHour, type ProviderHalfHourRow } from "../entities/provider-half-hour.ts";
import type { UsageRecordRow } from "../entities/usage-record.ts";
import { latencyBoundsMs } from "../entities/usage-roll-up.ts";
import { sqliteOf, toRaw } from "./raw-sql.ts";
import { bucketOf } from "./roll-up.ts";

export class ProviderHalfHourRepository {
  readonly #manager: EntityManager;

  constructor(manager: EntityManager) {
    this.#manager = manager;
  }

  /** Both bounds are inclusive. The oldest half-hours come first. */
  list(from: Date, last: Date): Promise<ProviderHalfHourRow[]> {
    return this.#manager.find(ProviderHalfHour, {
      where: { startsAt: Between(from, last) },
      order: { startsAt: "ASC", provider: "ASC" },
    });
  }

  async deleteBefore(startsAt: Date): Promise<void> {
    await this.#manager.delete(ProviderHalfHour, { startsAt: LessThan(startsAt) });
  }

  /** Call it in the transaction that inserts the records. */
  async add(records: readonly UsageRecordRow[]): Promise<void> {
    const { columns } = this.#manager.connection.getMetadata(ProviderHalfHour);
    const sqlite = sqliteOf(this.#manager);
    const names = columns.map(({ databaseName }) => databaseName);
    const given = (name: string) => (sqlite ? `excluded.${name}` : `VALUES(${name})`);
    const changes = columns
      .filter(({ isPrimary }) => !isPrimary)
      .map(({ databaseName: name }) => `${name} = provider_half_hours.${name} + ${given(name)}`);
    const conflict = sqlite ? "ON CONFLICT DO UPDATE SET" : "ON DUPLICATE KEY UPDATE";
    const row = `(${names.map(() => "?").join(", ")})`;
    const sums = sumUp(records);
    for (let from = 0; from < sums.length; from += rowsPerStatement) {
      const part = sums.slice(from, from + rowsPerStatement);
      const rows = part.map(() => row).join(", ");
      await this.#manager.query(
        `INSERT INTO provider_half_hours (${names.join(", ")}) VALUES ${rows} ${conflict} ${changes.join(", ")}`,
        part.flatMap((sum) =>
          columns.map(({ propertyName }) => toRaw(sum[propertyName as keyof ProviderHalfHourRow])),
        ),
      );
    }
  }
}

/** A provider that rejects an invalid request is healthy. A broken stream has HTTP status 200. */
export function isProvidersFault({
  status,
  httpStatus,
}: Pick<UsageRecordRow, "status" | "httpStatus">): boolean {
  return status === "FAILED" && (httpStatus < 400 || httpStatus >= 500 || httpStatus === 429);
}

const halfHourMs = 1_800_000;
/** SQLite and MySQL limit the number of parameters of a statement. */
const rowsPerStatement = 500;

/** Returns the sums in a fixed order, which prevents deadlocks. Omits requests that called no provider. */
function sumUp(records: readonly UsageRecordRow[]): ProviderHalfHourRow[] {
  const sums = new Map<string, ProviderHalfHourRow>();
  for (const record of records) {
    if (record.provider === "") continue;
    const startsAt = Math.floor(record.createdAt.getTime() / halfHourMs) * halfHourMs;
    const key = `${startsAt}\n${record.provider}`;
    let sum = sums.get(key);
    if (sum === undefined) sums.set(key, (sum = nothing(new Date(startsAt), record.provider)));
    sum.requests++;
    if (isProvidersFault(record)) sum.failures++;
    if (record.status !== "SUCCEEDED") continue;
    sum.successes++;
    sum.latencyMs += record.latencyMs;
    sum[`latency${bucketOf(record.latencyMs, latencyBoundsMs)}`]++;
  }
  return [...sums].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => sum);
}

function nothing(startsAt: Date, provider: string): ProviderHalfHourRow {
  return {
    startsAt,
    provider,
    requests: 0,
    failures: 0,
    successes: 0,
    latencyMs: 0,
    latency0: 0,
    latency1: 0,
    latency2: 0,
    latency3: 0,
    latency4: 0,
    latency5: 0,
    latency6: 0,
    latency7: 0,
    latency8: 0,
    latency9: 0,
  };
}

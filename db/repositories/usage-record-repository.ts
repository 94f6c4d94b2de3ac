import { type EntityManager, MoreThanOrEqual, Raw } from "typeorm";
import { UsageRecord, type UsageRecordRow } from "../entities/usage-record.ts";
import type { OwnerScope } from "./api-key-repository.ts";

/** How a request ended, as far as its provider is concerned. */
export type RecentOutcome = Pick<
  UsageRecordRow,
  "createdAt" | "provider" | "status" | "httpStatus" | "errorCode"
>;

export class UsageRecordRepository {
  readonly #manager: EntityManager;

  constructor(manager: EntityManager) {
    this.#manager = manager;
  }

  find(id: string): Promise<UsageRecordRow | null> {
    return this.#manager.findOneBy(UsageRecord, { id });
  }

  /** A key's newest first. */
  listByKey(apiKeyId: string, limit: number): Promise<UsageRecordRow[]> {
    return this.#manager.find(UsageRecord, { where: { apiKeyId }, order: { id: "DESC" }, take: limit });
  }

  /** How the requests from an id on ended, newest first. */
  listOutcomes(fromId: string, limit: number): Promise<RecentOutcome[]> {
    return this.#manager.find(UsageRecord, {
      select: { id: true, createdAt: true, provider: true, status: true, httpStatus: true, errorCode: true },
      where: { id: MoreThanOrEqual(fromId) },
      order: { id: "DESC" },
      take: limit,
    });
  }

  /** Whether a request was made, with any of the keys that are there. */
  existsOf(owner: OwnerScope): Promise<boolean> {
    if (owner === "everyone") return this.#manager.exists(UsageRecord);
    const isOwn = "IN (SELECT id FROM api_keys WHERE owner_id = :ownerId)";
    const apiKeyId = Raw((column) => `${column} ${isOwn}`, { ownerId: owner.ownerId });
    return this.#manager.exists(UsageRecord, { where: { apiKeyId } });
  }

  /**
   * Inserts all and ignores ids that exist, so that a batch may be sent again when nobody knows whether it arrived. Written
   * as SQL because TypeORM's insert costs several times as much CPU a row, and this runs for every request.
   */
  async insertAll(records: readonly UsageRecordRow[]): Promise<void> {
    const { columns, connection } = this.#manager.connection.getMetadata(UsageRecord);
    const isSqlite = connection.options.type === "better-sqlite3";
    const names = columns.map((column) => column.databaseName).join(", ");
    const properties = columns.map((column) => column.propertyName as keyof UsageRecordRow);
    const insert = `INSERT ${isSqlite ? "OR IGNORE" : "IGNORE"} INTO usage_records (${names}) VALUES`;
    const row = `(${columns.map(() => "?").join(", ")})`;
    for (let from = 0; from < records.length;) {
      const left = records.length - from;
      // A server wants few statements. SQLite is next door, and quickest with ones that it has compiled before.
      const size = !isSqlite ? left : left >= sqliteRowsPerStatement ? sqliteRowsPerStatement : 1;
      const part = records.slice(from, from + size);
      const parameters = part.flatMap((record) =>
        properties.map((property) => (isSqlite ? toSqlite(record[property]) : record[property])),
      );
      await this.#manager.query(
        `${insert} ${Array.from({ length: size }, () => row).join(", ")}`,
        parameters,
      );
      from += size;
    }
  }
}

const sqliteRowsPerStatement = 10;

/** As TypeORM writes it: times as text in UTC, truth as a number. */
function toSqlite(value: UsageRecordRow[keyof UsageRecordRow]): unknown {
  if (typeof value === "boolean") return value ? 1 : 0;
  return value instanceof Date ? value.toISOString().replace("T", " ").slice(0, -1) : value;
}

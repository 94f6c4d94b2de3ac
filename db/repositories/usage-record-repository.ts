import type { EntityManager } from "typeorm";
import { UsageRecord, type UsageRecordRow } from "../entities/usage-record.ts";

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

  /**
   * Inserts all in one statement and ignores ids that exist, so that a batch may be sent again when nobody knows whether
   * it arrived. Written as SQL because TypeORM's insert costs several times as much CPU a row, and this runs for every
   * request.
   */
  async insertAll(records: readonly UsageRecordRow[]): Promise<void> {
    if (records.length === 0) return;
    const { columns, connection } = this.#manager.connection.getMetadata(UsageRecord);
    const isSqlite = connection.options.type === "better-sqlite3";
    const names = columns.map((column) => column.databaseName).join(", ");
    const row = `(${columns.map(() => "?").join(", ")})`;
    const parameters = records.flatMap((record) =>
      columns.map((column) =>
        connection.driver.preparePersistentValue(record[column.propertyName as keyof UsageRecordRow], column),
      ),
    );
    await this.#manager.query(
      `INSERT ${isSqlite ? "OR IGNORE" : "IGNORE"} INTO usage_records (${names}) VALUES ${records.map(() => row).join(", ")}`,
      parameters,
    );
  }
}

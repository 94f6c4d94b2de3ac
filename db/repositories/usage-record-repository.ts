import { setImmediate as nextTurn } from "node:timers/promises";
import type Sqlite from "better-sqlite3";
import type { EntityManager } from "typeorm";
import { UsageRecord, type UsageRecordRow } from "../entities/usage-record.ts";
import { compile, fromRaw, type RawValue, readRaw, sqliteOf, toRaw } from "./raw-sql.ts";
import { ProviderHalfHourRepository } from "./provider-half-hour-repository.ts";
import { pageQuery, type UsagePage } from "./usage-queries.ts";
import { UsageRollUpRepository } from "./usage-roll-up-repository.ts";

export type RecentOutcome = Pick<
  UsageRecordRow,
  "createdAt" | "provider" | "status" | "httpStatus" | "errorCode" | "errorReason"
>;

export class UsageRecordRepository {
  readonly #manager: EntityManager;

  constructor(manager: EntityManager) {
    this.#manager = manager;
  }

  find(id: string): Promise<UsageRecordRow | null> {
    return this.#manager.findOneBy(UsageRecord, { id });
  }

  /** Lists the newest records first. Throws a `QueryTooLongError`. */
  async list(page: UsagePage, timeoutMs: number): Promise<UsageRecordRow[]> {
    const { connection } = this.#manager;
    const metadata = connection.getMetadata(UsageRecord);
    const query = pageQuery({ kind: connection.options.type, timeoutMs }, page);
    return readRaw(this.#manager, query, (row) => fromRaw<UsageRecordRow>(metadata, row));
  }

  /** Lists the newest records first. */
  listByKey(apiKeyId: string, limit: number): Promise<UsageRecordRow[]> {
    return this.#manager.find(UsageRecord, { where: { apiKeyId }, order: { id: "DESC" }, take: limit });
  }

  /** Lists the newest outcomes first. `fromId` is inclusive. */
  async listOutcomes(fromId: string, limit: number): Promise<RecentOutcome[]> {
    const metadata = this.#manager.connection.getMetadata(UsageRecord);
    const columns = metadata.columns.filter(({ propertyName }) => outcomeNames.has(propertyName));
    const names = columns.map(({ databaseName }) => databaseName).join(", ");
    const sql = `SELECT ${names} FROM usage_records WHERE id >= ? ORDER BY id DESC LIMIT ${limit}`;
    // TypeORM would convert all rows in one turn of the event loop.
    return readRaw(this.#manager, { sql, parameters: [fromId] }, (row) =>
      fromRaw<RecentOutcome>({ columns }, row),
    );
  }

  /**
   * Skips records that already exist, so that a batch can be repeated. Uses SQL, because TypeORM's insert costs
   * several times as much CPU per row.
   */
  async insertAll(records: readonly UsageRecordRow[]): Promise<void> {
    const byId = new Map<string, UsageRecordRow>();
    for (const record of records) if (!byId.has(record.id)) byId.set(record.id, record);
    const each = [...byId.values()];
    const sqlite = sqliteOf(this.#manager);
    const inserted = sqlite ? await this.#insertIntoSqlite(sqlite, each) : await this.#insertIntoMysql(each);
    await new UsageRollUpRepository(this.#manager).add(inserted);
    await new ProviderHalfHourRepository(this.#manager).add(inserted);
  }

  /** The oldest records of an ID range, locked until the transaction ends. */
  async lockOldest({ fromId, beforeId, limit }: OldestRecords): Promise<UsageRecordRow[]> {
    const { connection } = this.#manager;
    const sql = `SELECT * FROM usage_records WHERE id >= ? AND id < ? ORDER BY id LIMIT ${limit}`;
    // SQLite has one writer, so its transactions need no row locks.
    const lock = sqliteOf(this.#manager) ? "" : " FOR UPDATE";
    const metadata = connection.getMetadata(UsageRecord);
    const query = { sql: sql + lock, parameters: [fromId, beforeId] };
    return readRaw(this.#manager, query, (row) => fromRaw<UsageRecordRow>(metadata, row));
  }

  /** Updates the costs and prices of locked records. The caller corrects the roll-ups. */
  async replaceCosts(records: readonly UsageRecordRow[]): Promise<void> {
    const columns = [...priceColumns, "cost", "markup", "cost_details"];
    const sqlite = sqliteOf(this.#manager);
    if (sqlite) {
      const sets = columns.map((column) => `${column} = ?`).join(", ");
      const update = sqlite.prepare(`UPDATE usage_records SET ${sets} WHERE id = ?`);
      for (const record of records) {
        const { id, cost, markup, costDetails, inputPrice, cachedInputPrice, cacheWritePrice, outputPrice } =
          record;
        const prices = [inputPrice, cachedInputPrice, cacheWritePrice, outputPrice];
        update.run(...prices, cost, markup, toRaw(costDetails), id);
      }
      return;
    }
    // One statement updates many rows, because the server may be far away. The rows exist, so nothing is
    // inserted.
    const sets = columns.map((column) => `${column} = VALUES(${column})`).join(", ");
    const { properties, insert, row } = this.#insertion("INSERT INTO");
    for (let from = 0; from < records.length; from += rowsPerStatement) {
      const part = records.slice(from, from + rowsPerStatement);
      await this.#manager.query(
        `${insert} ${part.map(() => row).join(", ")} ON DUPLICATE KEY UPDATE ${sets}`,
        part.flatMap((record) => toParameters(properties, record)),
      );
    }
  }

  /** Deletes the oldest records before `id`, at most `limit`, and returns their number. Roll-ups do not change. */
  async deleteBefore(id: string, limit: number): Promise<number> {
    const oldest = "SELECT id FROM usage_records WHERE id < ? ORDER BY id LIMIT ?";
    const sqlite = sqliteOf(this.#manager);
    const { changes } =
      sqlite?.prepare(`DELETE FROM usage_records WHERE id IN (${oldest})`).run(id, limit) ?? {};
    if (changes === undefined)
      throw new Error("deleteBefore supports SQLite only. Drop partitions on MySQL.");
    return changes;
  }

  /**
   * Compiled single-row statements are faster than larger statements, and their results show which rows are new.
   * The driver is synchronous, so the loop regularly lets requests run.
   */
  async #insertIntoSqlite(sqlite: Sqlite.Database, records: UsageRecordRow[]): Promise<UsageRecordRow[]> {
    if (records.length === 0) return [];
    // The statement omits columns without values, because each parameter takes time.
    const { properties, insert, row } = this.#insertion("INSERT INTO", hasValueIn(records));
    const statement = compile(sqlite, `${insert} ${row} ON CONFLICT (id) DO NOTHING`);
    const inserted: UsageRecordRow[] = [];
    for (const [index, record] of records.entries()) {
      if (index % rowsPerTurn === rowsPerTurn - 1) await nextTurn();
      if (statement.run(toParameters(properties, record)).changes === 1) inserted.push(record);
    }
    return inserted;
  }

  /**
   * MySQL reports how many rows were new, but not which. If some rows existed, the insert is rolled back
   * and repeated without them. `IGNORE` also truncates long values, so that one record cannot block all others.
   */
  async #insertIntoMysql(records: UsageRecordRow[]): Promise<UsageRecordRow[]> {
    await this.#manager.query("SAVEPOINT usage_records");
    // A fixed lock order prevents deadlocks.
    const inOrder = records.toSorted((one, other) => (one.id < other.id ? -1 : 1));
    for (let left = inOrder; left.length > 0;) {
      if ((await this.#insertNew(left)) === left.length) return left;
      await this.#manager.query("ROLLBACK TO SAVEPOINT usage_records");
      const there = await this.#idsAmong(left.map(({ id }) => id));
      if (there.size === 0)
        throw new Error("The database rejected usage records without reporting an error.");
      left = left.filter(({ id }) => !there.has(id));
    }
    return [];
  }

  async #insertNew(records: UsageRecordRow[]): Promise<number> {
    let inserted = 0;
    let next = await this.#statementFor(records, 0);
    for (let from = 0; next !== null; from += rowsPerStatement) {
      // Builds the next statement while MySQL works, but sends it only afterwards. After a deadlock, a queued statement
      // would run outside the transaction.
      const results: [{ affectedRows: number }, string | null] = await Promise.all([
        this.#manager.query(next),
        this.#statementFor(records, from + rowsPerStatement),
      ]);
      inserted += results[0].affectedRows;
      next = results[1];
    }
    return inserted;
  }

  async #statementFor(records: UsageRecordRow[], from: number): Promise<string | null> {
    const part = records.slice(from, from + rowsPerStatement);
    if (part.length === 0) return null;
    const { format } = await import("mysql2");
    // `format` blocks the process, so the previous statement is sent first.
    await nextTurn();
    // The statement omits columns without values, because parsing time grows with the text.
    const { properties, insert, row } = this.#insertion("INSERT IGNORE INTO", hasValueIn(part));
    const parameters = part.flatMap((record) => toParameters(properties, record));
    return format(`${insert} ${part.map(() => row).join(", ")}`, parameters);
  }

  async #idsAmong(ids: string[]): Promise<Set<string>> {
    const rows: { id: string }[] = await this.#manager.query("SELECT id FROM usage_records WHERE id IN (?)", [
      ids,
    ]);
    return new Set(rows.map(({ id }) => id));
  }

  #insertion(verb: string, isUsed: (property: keyof UsageRecordRow) => boolean = () => true) {
    const { columns: all } = this.#manager.connection.getMetadata(UsageRecord);
    const columns = all.filter(({ propertyName }) => isUsed(propertyName as keyof UsageRecordRow));
    const names = columns.map((column) => column.databaseName);
    return {
      properties: columns.map((column) => column.propertyName as keyof UsageRecordRow),
      insert: `${verb} usage_records (${names.join(", ")}) VALUES`,
      row: `(${names.map(() => "?").join(", ")})`,
    };
  }
}

const priceColumns = ["input_price", "cached_input_price", "cache_write_price", "output_price"];

/** Rows per turn of the event loop on SQLite: about 2 ms of work. */
const rowsPerTurn = 100;
const rowsPerStatement = 500;
const outcomeNames = new Set(["createdAt", "provider", "status", "httpStatus", "errorCode", "errorReason"]);

type OldestRecords = { fromId: string; beforeId: string; limit: number };

function hasValueIn(records: readonly UsageRecordRow[]) {
  return (property: keyof UsageRecordRow) =>
    records.some((record) => record[property] !== null && record[property] !== undefined);
}

function toParameters(properties: readonly (keyof UsageRecordRow)[], record: UsageRecordRow): RawValue[] {
  return properties.map((property) => toRaw(record[property]));
}

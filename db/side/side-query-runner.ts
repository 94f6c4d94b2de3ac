import type { DataSource } from "typeorm";
import type { BetterSqlite3Driver } from "typeorm/driver/better-sqlite3/BetterSqlite3Driver.js";
import { BetterSqlite3QueryRunner } from "typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js";
import { QueryResult } from "typeorm/query-runner/QueryResult.js";
import type { Query, RawRow, SideReader } from "../repositories/raw-sql.ts";
import type { SideThread } from "./side-thread.ts";

/** Lets the repositories' statements run in the side thread, those of TypeORM as well as raw ones. */
export class SideQueryRunner extends BetterSqlite3QueryRunner implements SideReader {
  readonly #thread: SideThread;

  constructor(dataSource: DataSource, thread: SideThread) {
    super(dataSource.driver as BetterSqlite3Driver);
    this.#thread = thread;
  }

  override async query<Result>(sql: string, parameters?: unknown[]): Promise<Result>;
  override async query(sql: string, parameters?: unknown[], isStructured?: true): Promise<QueryResult>;
  override async query(sql: string, parameters: unknown[] = [], isStructured = false): Promise<unknown> {
    const rows = await this.readRows({ sql, parameters }, (row) => row);
    return isStructured ? Object.assign(new QueryResult(), { raw: rows, records: rows }) : rows;
  }

  async readRows<Row>({ sql, parameters }: Query, convert: (row: RawRow) => Row): Promise<Row[]> {
    const found: Row[] = [];
    const given = parameters.map((each) => (typeof each === "boolean" ? Number(each) : each));
    await this.#thread.read(sql, given, ({ columns, rows }) => {
      for (const row of rows) {
        found.push(convert(Object.fromEntries(columns.map((column, index) => [column, row[index]]))));
      }
    });
    return found;
  }
}

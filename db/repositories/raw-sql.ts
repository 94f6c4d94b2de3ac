import type Sqlite from "better-sqlite3";
import type { EntityManager, EntityMetadata, ObjectLiteral } from "typeorm";

export type Query = { sql: string; parameters: unknown[] };

/** A query runner that reads SQLite in another thread: see `side-query-runner.ts`. */
export type SideReader = {
  readRows<Row>(query: Query, convert: (row: RawRow) => Row): Promise<Row[]>;
};

function sideReaderOf({ queryRunner }: EntityManager): SideReader | null {
  return queryRunner && "readRows" in queryRunner ? (queryRunner as unknown as SideReader) : null;
}

/**
 * SQLite's connection, which runs a statement at a fraction of TypeORM's cost. Null on MySQL, and for questions that
 * another thread answers.
 */
export function sqliteOf(manager: EntityManager): Sqlite.Database | null {
  if (sideReaderOf(manager)) return null;
  const { driver } = manager.connection;
  return "databaseConnection" in driver ? (driver.databaseConnection as Sqlite.Database) : null;
}

/** Returns the compiled form of fixed SQL. Compiling a statement takes longer than running it. */
export function compile(sqlite: Sqlite.Database, sql: string): Sqlite.Statement {
  let statements = compiled.get(sqlite);
  if (statements === undefined) compiled.set(sqlite, (statements = new Map()));
  let statement = statements.get(sql);
  if (statement === undefined) {
    if (statements.size >= compiledMax) statements.clear();
    statements.set(sql, (statement = sqlite.prepare(sql)));
  }
  return statement;
}

const compiled = new WeakMap<Sqlite.Database, Map<string, Sqlite.Statement>>();
const compiledMax = 100;

export async function readRaw<Row>(
  manager: EntityManager,
  query: Query,
  convert: (row: RawRow) => Row,
): Promise<Row[]> {
  const side = sideReaderOf(manager);
  if (side) return side.readRows(query, convert);
  const { sql, parameters } = query;
  const sqlite = sqliteOf(manager);
  const rows = sqlite
    ? sqlite.prepare<unknown[], RawRow>(sql).all(...parameters)
    : await manager.query<RawRow[]>(sql, parameters);
  return rows.map(convert);
}

export type RawRow = Record<string, unknown>;

/** Converts a value to TypeORM's storage format: moments become text in UTC, booleans 0 or 1, other objects JSON. */
export function toRaw(value: string | number | boolean | object | null | undefined): RawValue {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (value instanceof Date) return momentText(value);
  if (typeof value === "object") return value && JSON.stringify(value);
  return value ?? null;
}

export type RawValue = string | number | null;

/**
 * Caches the text of the latest second, because formatting a date costs as much as all other columns. Clamps
 * years outside 0 to 9999, so that texts sort like moments.
 */
function momentText(moment: Date): string {
  const ms = Math.min(Math.max(moment.getTime(), firstMs), lastMs);
  const second = Math.floor(ms / 1_000);
  if (second !== latest.second) {
    latest = { second, text: new Date(second * 1_000).toISOString().replace("T", " ").slice(0, -4) };
  }
  return latest.text + String(ms - second * 1_000).padStart(3, "0");
}

const firstMs = Date.parse("0000-01-01T00:00:00.000Z");
const lastMs = Date.parse("9999-12-31T23:59:59.999Z");

let latest = { second: NaN, text: "" };

/** Converts a row of `SELECT *` to the entity. TypeORM's own conversion costs several times as much. */
export function fromRaw<Row extends ObjectLiteral>(
  { columns }: Pick<EntityMetadata, "columns">,
  raw: RawRow,
): Row {
  const row: Record<string, unknown> = {};
  for (const { databaseName, propertyName, type } of columns) {
    row[propertyName] = fromRawValue(type, raw[databaseName]);
  }
  return row as Row;
}

function fromRawValue(type: EntityMetadata["columns"][number]["type"], value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (type === "bigint") return Number(value);
  if (type === "boolean") return Number(value) === 1;
  // The MySQL driver parses JSON on MySQL. MariaDB and SQLite return text.
  if (type === "json") return typeof value === "string" ? JSON.parse(value) : value;
  return type === "datetime" ? toMoment(value) : value;
}

/** The MySQL driver returns `Date` objects, and SQLite returns text in UTC. */
export function toMoment(value: unknown): Date {
  return value instanceof Date ? value : new Date(`${String(value).replace(" ", "T")}Z`);
}

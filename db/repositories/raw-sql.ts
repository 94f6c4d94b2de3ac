import type Sqlite from "better-sqlite3";
import type { EntityManager, EntityMetadata, ObjectLiteral } from "typeorm";

/** A statement and what its question marks stand for. */
export type Query = { sql: string; parameters: unknown[] };

/** SQLite's own connection, on which a statement costs a fraction of what it costs through TypeORM; null on MySQL. */
export function sqliteOf(manager: EntityManager): Sqlite.Database | null {
  const { driver } = manager.connection;
  return "databaseConnection" in driver ? (driver.databaseConnection as Sqlite.Database) : null;
}

/** The rows that a query finds. */
export async function readRaw(manager: EntityManager, { sql, parameters }: Query): Promise<RawRow[]> {
  const sqlite = sqliteOf(manager);
  return sqlite ? sqlite.prepare<unknown[], RawRow>(sql).all(...parameters) : manager.query(sql, parameters);
}

export type RawRow = Record<string, unknown>;

/** A value as both databases take it, in TypeORM's form: moments as text in UTC, truth as a number. */
export function toRaw(value: string | number | boolean | Date | null | undefined): RawValue {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "object") return value && momentText(value);
  return value ?? null;
}

export type RawValue = string | number | null;

/**
 * Many rows in a row are of one second, and to write a date takes as long as all other columns do. Years have four digits,
 * or the text would not sort as the moments do: what is beyond them is as far as they go, and beyond all rows as well.
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

/** A row as `SELECT *` gives it, in the entity's form: TypeORM's own way costs several times as much. */
export function fromRaw<Row extends ObjectLiteral>({ columns }: EntityMetadata, raw: RawRow): Row {
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
  return type === "datetime" ? toMoment(value) : value;
}

/** MySQL's driver gives moments, SQLite text in UTC. */
export function toMoment(value: unknown): Date {
  return value instanceof Date ? value : new Date(`${String(value).replace(" ", "T")}Z`);
}

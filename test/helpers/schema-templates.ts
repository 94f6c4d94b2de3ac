import { randomBytes } from "node:crypto";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { RowDataPacket } from "mysql2/promise";
import { Database } from "../../db/database.ts";
import { hangMs } from "./eventually.ts";

/**
 * Migrates one database of each kind for tests to copy. A copy takes a quarter of a migration's CPU time.
 * @param servers the URLs of the servers, by database kind
 */
export async function writeSchemaTemplates(servers: Record<string, string>): Promise<SchemaTemplates> {
  const folder = await mkdtemp(path.join(tmpdir(), "gateway-schemas-"));
  const file = path.join(folder, "sqlite");
  await migrate(`sqlite:${file}`);
  for (const [kind, url] of Object.entries(servers)) {
    await writeFile(path.join(folder, kind), await readSchema(url));
  }
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

export type SchemaTemplates = { folder: string; remove(): Promise<void> };

const folder = process.env.TEST_SCHEMAS ?? "";

/** `npx ava` has none. */
export const haveTemplates = folder !== "";

export function copySqliteSchema(file: string): Promise<void> {
  return copyFile(path.join(folder, "sqlite"), file);
}

/** Returns the statements that create the tables and their initial rows on a server. */
export function serverSchema(kind: string): Promise<string> {
  return readFile(path.join(folder, kind), "utf8");
}

export async function migrate(url: string): Promise<void> {
  const limits = { connectionsMax: 2, connectTimeoutMs: hangMs, operationTimeoutMs: hangMs };
  const database = await Database.open(url, limits);
  await database.migrate();
  await database.close();
}

async function readSchema(server: string): Promise<string> {
  const { createConnection } = await import("mysql2/promise");
  const connection = await createConnection({ uri: server, connectTimeout: hangMs });
  try {
    await connection.query(`CREATE DATABASE ${template}`);
    await migrate(Object.assign(new URL(server), { pathname: template }).href);
    await connection.query(`USE ${template}`);
    const read = async (sql: string, ...names: unknown[]) =>
      (await connection.query<RowDataPacket[]>(sql, names))[0];
    const [database] = await read("SELECT @@collation_database AS collation");
    // Some tables have foreign keys to tables that do not exist yet.
    const statements = [`ALTER DATABASE COLLATE ${database?.["collation"]}`, "SET foreign_key_checks = 0"];
    for (const name of (await read("SHOW TABLES")).flatMap(Object.values)) {
      const [table] = await read("SHOW CREATE TABLE ??", name);
      statements.push(table?.["Create Table"]);
      const rows = (await read("SELECT * FROM ??", name)).map(Object.values);
      if (rows.length > 0) statements.push(connection.format("INSERT INTO ?? VALUES ?", [name, rows]));
    }
    return statements.join(";\n");
  } finally {
    await connection.query(`DROP DATABASE IF EXISTS ${template}`);
    await connection.end();
  }
}

const template = `schema_${randomBytes(8).toString("hex")}`;

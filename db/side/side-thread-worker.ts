import { parentPort, workerData } from "node:worker_threads";
import Sqlite from "better-sqlite3";
import { QueryTooLongError } from "../database-errors.ts";
import { addSqliteFunctions } from "../sqlite-functions.ts";
import type { SideReply, SideRequest } from "./side-messages.ts";

/**
 * Answers the statements of `SideThread`, one at a time. No transaction stays open between them, so that each sees
 * all commits, and so that the write-ahead log can be shortened.
 */
function serve(path: string): void {
  const sqlite = new Sqlite(path, { readonly: true, fileMustExist: true, timeout: 5_000 });
  addSqliteFunctions(sqlite);
  let columns: string[] = [];
  let rows: unknown[][] = [];
  let sent = 0;

  const answer = (request: SideRequest): SideReply => {
    if (request !== "next") {
      const statement = sqlite.prepare(request.sql);
      if (!statement.reader)
        throw Object.assign(new Error("A question cannot write."), { code: "SQLITE_READONLY" });
      columns = statement.columns().map(({ name }) => name);
      rows = readAll(statement.raw(true).iterate(...request.parameters) as Iterable<unknown[]>);
      sent = 0;
    }
    const part = rows.slice(sent, sent + rowsPerPart);
    sent += part.length;
    const isLast = sent >= rows.length;
    if (isLast) rows = [];
    return { columns, rows: part, isLast };
  };

  parentPort?.on("message", (request: SideRequest) => {
    try {
      parentPort?.postMessage(answer(request));
    } catch (error) {
      rows = [];
      parentPort?.postMessage(toReply(error));
    }
  });
}

/** The main thread takes about 2 ms for this many rows. */
const rowsPerPart = 200;
/** A summary has 40,001 rows at most. */
const rowsMax = 100_000;
const textLengthMax = 64 * 1024 * 1024;

function readAll(found: Iterable<unknown[]>): unknown[][] {
  const rows: unknown[][] = [];
  let length = 0;
  for (const row of found) {
    for (const value of row) if (typeof value === "string") length += value.length;
    if (rows.push(row) > rowsMax || length > textLengthMax) {
      throw new QueryTooLongError("The result is too large. Use a shorter period or a smaller page.");
    }
  }
  return rows;
}

function toReply(error: unknown): SideReply {
  const { name, message, code } = error as NodeJS.ErrnoException;
  return { error: { name, message, code } };
}

serve((workerData as { path: string }).path);

import type Sqlite from "better-sqlite3";
import { QueryTooLongError } from "./database-errors.ts";
import { monotonicMs } from "./monotonic-ms.ts";

/** Adds the functions that our statements call. Each connection needs them. */
export function addSqliteFunctions(connection: Sqlite.Database): void {
  // Statements that may be slow call this function for each row (see `usage-queries.ts`), because better-sqlite3
  // cannot interrupt a statement.
  connection.function("in_time", (deadlineMs) => {
    if (monotonicMs() > Number(deadlineMs)) throw new QueryTooLongError("The query timed out.");
    return 1;
  });
  // SQLite's own function converts only ASCII letters, but name searches ignore the case of all letters.
  connection.function("lower", { deterministic: true }, (text) =>
    typeof text === "string" ? text.toLowerCase() : text,
  );
}

/** A write that fails with this error may still have been committed. */
export class DatabaseUnavailableError extends Error {
  override readonly name = "DatabaseUnavailableError";
}

/** The database aborted a slow query. The connection stays usable. */
export class QueryTooLongError extends Error {
  override readonly name = "QueryTooLongError";
}

export class DuplicateError extends Error {
  override readonly name = "DuplicateError";
}

/** Other rows reference the row, or the row references a missing row. */
export class StillReferencedError extends Error {
  override readonly name = "StillReferencedError";
}

/** Another schema than that of any release. */
export class OldSchemaError extends Error {
  override readonly name = "OldSchemaError";
  override readonly message =
    "The database was created before version 0.1.0 and cannot be upgraded: set DATABASE_URL to a new, empty database, or move the SQLite file away, and start again.";
}

/** Converts a driver's error to one of the errors above. Returns any other error unchanged. */
export function fromDriverError(error: unknown): unknown {
  const code = driverCode(error);
  if (code === undefined) return error;
  if (duplicateCodes.has(code)) return new DuplicateError("The value already exists.", { cause: error });
  if (referenceCodes.has(code))
    return new StillReferencedError("The row is still referenced.", { cause: error });
  if (tooLongCodes.has(code)) return new QueryTooLongError("The query timed out.", { cause: error });
  if (unavailableCodes.has(code) || unavailableSqlite.test(code)) {
    const reason = explainedCodes.test(code) ? `${code}: ${driverMessage(error)}` : code;
    return new DatabaseUnavailableError(`The database is unavailable (${reason}).`, { cause: error });
  }
  return error;
}

/** Whether InnoDB rolled back the transaction to break a deadlock. The caller can repeat the transaction. */
export function isDeadlock(error: unknown): boolean {
  return driverCode(error) === "ER_LOCK_DEADLOCK";
}

/** Whether another process locks the SQLite database. The caller can repeat the operation. */
export function isBusy(error: unknown): boolean {
  return driverCode(error)?.startsWith("SQLITE_BUSY") ?? false;
}

function driverCode(error: unknown): string | undefined {
  for (let each = error, depth = 0; each instanceof Error && depth < 4; depth++) {
    const { code, errno, fatal, driverError } = each as DriverError;
    if (typeof code === "string") return code;
    // mysql2 has no code for a statement on a connection that another session closed.
    if (fatal === true && driverError === undefined) return "PROTOCOL_CONNECTION_LOST";
    // mysql2 has no names for these MariaDB errors.
    if (errno === 1969) return "ER_STATEMENT_TIMEOUT";
    if (errno === 1927) return "ER_CONNECTION_KILLED";
    each = driverError ?? each.cause;
  }
  return undefined;
}

type DriverError = { code?: unknown; errno?: unknown; fatal?: unknown; driverError?: unknown };

const duplicateCodes = new Set(["SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY", "ER_DUP_ENTRY"]);

const referenceCodes = new Set([
  "SQLITE_CONSTRAINT_FOREIGNKEY",
  "SQLITE_CONSTRAINT_TRIGGER",
  "ER_NO_REFERENCED_ROW_2",
  "ER_ROW_IS_REFERENCED_2",
]);

const tooLongCodes = new Set(["ER_STATEMENT_TIMEOUT", "ER_QUERY_TIMEOUT"]);

const unavailableCodes = new Set([
  "AUTH_SWITCH_PLUGIN_ERROR",
  "ECONNREFUSED",
  "EAI_AGAIN",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
  "ER_ACCESS_DENIED_ERROR",
  "ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION",
  "ER_CONNECTION_KILLED",
  "ER_CON_COUNT_ERROR",
  "ER_DISK_FULL",
  "ER_ERROR_DURING_COMMIT",
  "ER_ERROR_ON_WRITE",
  "ER_LOCK_WAIT_TIMEOUT",
  "ER_OPTION_PREVENTS_STATEMENT",
  "ER_QUERY_INTERRUPTED",
  "ER_READ_ONLY_MODE",
  "ER_RECORD_FILE_FULL",
  "ER_RUN_HOOK_ERROR",
  "ER_SERVER_SHUTDOWN",
  "HANDSHAKE_NO_SSL_SUPPORT",
  "HANDSHAKE_SSL_ERROR",
  "PROTOCOL_CONNECTION_LOST",
  "PROTOCOL_ENQUEUE_AFTER_FATAL_ERROR",
  "PROTOCOL_SEQUENCE_TIMEOUT",
]);

/** The driver's messages for these codes explain the cause without secrets. */
const explainedCodes = /^(HANDSHAKE_|AUTH_SWITCH_|ER_ACCESS_DENIED_)/;

function driverMessage(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\.$/, "") : "";
}

/** SQLite's extended codes add the cause, as in SQLITE_IOERR_WRITE. */
const unavailableSqlite =
  /^SQLITE_(BUSY|CANTOPEN|CORRUPT|FULL|IOERR|LOCKED|NOMEM|NOTADB|PROTOCOL|READONLY)(_|$)/;

import type { Socket } from "node:net";
import type { PoolConnection } from "mysql2";
import type { Logger, QueryRunner } from "typeorm";

/**
 * Discards a connection after a query timeout or if its server became read-only, so that the pool opens a new
 * connection. The class is a logger, because TypeORM reports every failed query to its logger.
 */
export class ConnectionDiscarder implements Logger {
  logQueryError(error: string | Error, query: string, _parameters?: unknown, runner?: QueryRunner): void {
    // After a failed ROLLBACK, the transaction may still be open.
    if (!runner || !(query === "ROLLBACK" || isHopeless(error))) return;
    // The promise is already resolved, so the connection closes before TypeORM can return it to the pool.
    void runner.connect().then((connection: PoolConnection & { stream: Socket }) => {
      connection.destroy();
      // mysql2's `destroy` only ends the stream, and a dead machine never confirms the end.
      connection.stream.destroy();
    });
  }

  logQuery(): void {}
  logQuerySlow(): void {}
  logSchemaBuild(): void {}
  logMigration(): void {}
  log(): void {}
}

function isHopeless(error: string | Error): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === "string" && hopelessCodes.has(code);
}

const hopelessCodes = new Set([
  "ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION",
  "ER_OPTION_PREVENTS_STATEMENT",
  "ER_READ_ONLY_MODE",
  // Group replication reports this error when a member has left its group.
  "ER_RUN_HOOK_ERROR",
  "PROTOCOL_SEQUENCE_TIMEOUT",
]);

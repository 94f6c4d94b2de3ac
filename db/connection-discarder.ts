import type { Socket } from "node:net";
import type { PoolConnection } from "mysql2";
import type { Logger, QueryRunner } from "typeorm";

/**
 * Discards connections that cannot recover, so that the pool opens new ones: connections that timed out, or
 * whose primary became read-only. It is a logger, because TypeORM reports failed queries nowhere else.
 */
export class ConnectionDiscarder implements Logger {
  logQueryError(error: string | Error, _query: string, _parameters?: unknown, runner?: QueryRunner): void {
    if (!runner || !isHopeless(error)) return;
    // The promise resolves before TypeORM continues, so the connection is closed by then.
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

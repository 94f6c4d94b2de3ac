import type { Socket } from "node:net";
import type { PoolConnection } from "mysql2";
import type { Logger, QueryRunner } from "typeorm";

/**
 * Throws away connections that answered as those do which never recover, so that the pool makes new ones: to a server
 * that takes no writes, which after a failover is the one that used to be the primary; and those on which an answer did not
 * come in time, which may be to a machine that is gone. TypeORM tells only its logger of queries that failed.
 */
export class ConnectionDiscarder implements Logger {
  logQueryError(error: string | Error, _query: string, _parameters?: unknown, runner?: QueryRunner): void {
    if (!runner || !isHopeless(error)) return;
    // It is there already: this resolves before TypeORM goes on, and finds the connection closed.
    void runner.connect().then((connection: PoolConnection & { stream: Socket }) => {
      connection.destroy();
      // That merely ends the socket, which then waits for an answer of the machine that is gone.
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
  // What group replication says where a member has left its group.
  "ER_RUN_HOOK_ERROR",
  "PROTOCOL_SEQUENCE_TIMEOUT",
]);

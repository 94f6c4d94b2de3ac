import { chmodSync, mkdirSync } from "node:fs";
import { Database } from "./database.ts";

type OpenDatabaseOptions = {
  dataDir: string;
  databaseUrl: string;
  limits: {
    databaseConnectionsMax: number;
    databaseConnectTimeoutMs: number;
    databaseTimeoutMs: number;
  };
};

/** Opens the database, with a data folder that nobody else can read. */
export function openDatabase({ dataDir, databaseUrl, limits }: OpenDatabaseOptions): Promise<Database> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // A folder that exists may be open to others. One that belongs to another user stays as it is.
  ignoreNotPermitted(() => chmodSync(dataDir, 0o700));
  return Database.open(databaseUrl, {
    connectionsMax: limits.databaseConnectionsMax,
    connectTimeoutMs: limits.databaseConnectTimeoutMs,
    operationTimeoutMs: limits.databaseTimeoutMs,
  });
}

function ignoreNotPermitted(change: () => void): void {
  try {
    change();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") throw error;
  }
}

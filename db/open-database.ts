import { chmodSync, mkdirSync } from "node:fs";
import { Database } from "./database.ts";

type DatabaseSettings = Readonly<{
  dataDir: string;
  databaseUrl: string;
  limits: Readonly<
    Record<"databaseConnectionsMax" | "databaseConnectTimeoutMs" | "databaseTimeoutMs", number>
  >;
}>;

/** Opens the database, and creates a data folder that only this user can read. */
export function openDatabase({ dataDir, databaseUrl, limits }: DatabaseSettings): Promise<Database> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // An existing folder may be open to others. A folder of another user stays unchanged.
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

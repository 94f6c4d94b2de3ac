import { chmodSync, mkdirSync } from "node:fs";
import { Database } from "./database.ts";

type DatabaseSettings = Readonly<{
  dataDir: string;
  databaseUrl: string;
  limits: Readonly<
    Record<"databaseConnectionsMax" | "databaseConnectTimeoutMs" | "databaseTimeoutMs", number>
  >;
}>;

/** Also creates the data folder. Only the user of the process can read the folder. */
export function openDatabase({ dataDir, databaseUrl, limits }: DatabaseSettings): Promise<Database> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // `mkdir` keeps the mode of an existing folder. Only the folder's owner can change the mode.
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

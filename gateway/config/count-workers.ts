import { availableParallelism } from "node:os";
import * as z from "zod";

/**
 * The number of processes for `WORKERS`. `auto` means one per core, or one if the database allows only one.
 */
export function countWorkers(workers: WorkersSetting, databaseUrl: string | undefined): number {
  if (workers !== "auto") return workers;
  return canHaveSeveral(databaseUrl) ? availableParallelism() : 1;
}

/** The problem with the setting. Null if it is valid. */
export function workersProblem(workers: WorkersSetting, databaseUrl: string | undefined): string | null {
  if (countWorkers(workers, databaseUrl) === 1 || canHaveSeveral(databaseUrl)) return null;
  return "more than 1 requires MySQL or MariaDB as DATABASE_URL: SQLite allows one writing process";
}

export const workersSetting = z
  .string()
  .refine(
    (text) => text === "auto" || /^[1-9]\d{0,2}$/.test(text),
    "is neither a number from 1 to 999 nor auto",
  )
  .transform((text) => (text === "auto" ? text : Number(text)));

export type WorkersSetting = number | "auto";

/** Without a URL, the database is SQLite. */
function canHaveSeveral(databaseUrl = "sqlite:"): boolean {
  return !databaseUrl.startsWith("sqlite:");
}

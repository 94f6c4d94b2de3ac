import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { readConfig } from "../../gateway/config/config.ts";
import { createLog, standardLogDestination } from "../../gateway/log.ts";
import { systemRuntime } from "../../gateway/runtime.ts";
import { type RunningGateway, startGateway } from "../../gateway/start/start-gateway.ts";

/** Starts a gateway on SQLite in this process. Its data goes when the process ends. */
export async function startOwnGateway(environment: Record<string, string>): Promise<OwnGateway> {
  const folder = mkdtempSync(path.join(tmpdir(), "gateway-own-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const databaseFile = path.join(folder, "gateway.db");
  const all = { PORT: "0", DATA_DIR: folder, DATABASE_URL: `sqlite:${databaseFile}`, ...environment };
  const runtime = systemRuntime(createLog("warn", standardLogDestination()));
  return { ...(await startGateway(readConfig(all), runtime)), databaseFile };
}

export type OwnGateway = RunningGateway & { databaseFile: string };

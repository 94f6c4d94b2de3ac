import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import Sqlite from "better-sqlite3";
import { readConfig } from "../../gateway/config/config.ts";
import { createLog, standardLogDestination } from "../../gateway/log.ts";
import { systemRuntime } from "../../gateway/runtime.ts";
import { startGateway } from "../../gateway/start/start-gateway.ts";
import { answerParent } from "../bench/measured-process.ts";
import { fillHistory } from "../helpers/fill-history.ts";

const folder = mkdtempSync(path.join(tmpdir(), "gateway-history-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const file = path.join(folder, "gateway.db");

const answers = {
  /** Starts a gateway on SQLite with usage records of the last 30 days. */
  async start(rows: number) {
    // Percentiles are measured, so no question may end early on a slow machine.
    const environment = {
      PORT: "0",
      DATA_DIR: folder,
      DATABASE_URL: `sqlite:${file}`,
      UPSTREAM_PRIVATE_HOSTS: "*",
      USAGE_QUERY_TIMEOUT_MS: "60000",
      DATABASE_TIMEOUT_MS: "120000",
    };
    const runtime = systemRuntime(createLog("error", standardLogDestination()));
    const { url, services } = await startGateway(readConfig(environment), runtime);
    const to = Date.now();
    await fillHistory(services.database, { rows, from: to - 30 * 86_400_000, to });
    return { url, setUpToken: services.accounts.setUpToken ?? "" };
  },

  /** Makes the person the owner of a fortieth of the history. */
  giveHistory(personId: string): void {
    const sqlite = new Sqlite(file, { timeout: 60_000 });
    for (const table of ["usage_records", "usage_roll_ups"]) {
      sqlite
        .prepare(`UPDATE ${table} SET owner_id = ? WHERE owner_id = ?`)
        .run(personId, `usr_${"1".padStart(26, "0")}`);
    }
    sqlite.close();
  },
};

export type FilledGateway = typeof answers;

answerParent(answers);

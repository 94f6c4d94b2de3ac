import Sqlite from "better-sqlite3";
import { answerParent } from "../bench/measured-process.ts";
import { startOwnGateway } from "../bench/own-gateway.ts";
import { fillHistory } from "../helpers/fill-history.ts";

let file = "";

const answers = {
  /** Starts a gateway on SQLite with usage records of the last 30 days. */
  async start(rows: number) {
    // Percentiles are measured, so no question may end early on a slow machine.
    const { url, services, databaseFile } = await startOwnGateway({
      UPSTREAM_PRIVATE_HOSTS: "*",
      USAGE_QUERY_TIMEOUT_MS: "60000",
      DATABASE_TIMEOUT_MS: "120000",
    });
    file = databaseFile;
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

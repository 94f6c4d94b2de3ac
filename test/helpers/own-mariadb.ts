import type { ExecutionContext } from "ava";
import { provideMariadb } from "./mariadb-programs.ts";
import { startMariadb } from "./mariadb-server.ts";
import { databaseKinds } from "./test-database.ts";
import { createTestFolder } from "./test-folder.ts";

/** For faults that the shared server must not suffer: `if (ownMariadb) test(…)`. */
export const ownMariadb = databaseKinds.includes("mysql") ? provideMariadb(console.error) : undefined;

/** Starts a private MariaDB, which can be restarted on the same port and data. */
export async function startOwnMariadb(
  t: Pick<ExecutionContext, "teardown">,
  parameters: string[] = [],
): Promise<OwnMariadb> {
  if (!ownMariadb) throw new Error("There is no MariaDB here: ask ownMariadb first");
  const programs = ownMariadb;
  const folder = await createTestFolder(t);
  let server = await startMariadb(programs, { folder, parameters });
  t.teardown(() => server.stop());
  const { url, port } = server;
  return {
    url,
    port,
    stop: () => server.stop(),
    async start() {
      server = await startMariadb(programs, { folder, port, parameters });
    },
  };
}

export type OwnMariadb = { url: string; port: number; stop(): Promise<void>; start(): Promise<void> };

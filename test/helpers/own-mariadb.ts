import type { ExecutionContext } from "ava";
import { provideMariadb } from "./mariadb-programs.ts";
import { startMariadb } from "./mariadb-server.ts";
import { databaseKinds } from "./test-database.ts";
import { createTestFolder } from "./test-folder.ts";

/** For tests of what the server that all share may not go through: `if (ownMariadb) test(…)`. */
export const ownMariadb = databaseKinds.includes("mysql") ? provideMariadb(console.error) : undefined;

/** A MariaDB of the test's own, which can be stopped and started again on the same port with the same data. */
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

import type { ExecutionContext } from "ava";
import { type ServerPrograms, startDatabaseServer } from "./database-server.ts";
import { provideMariadb } from "./mariadb-programs.ts";
import { findMysql } from "./mysql-programs.ts";
import { serverKinds } from "./test-database.ts";
import { createTestFolder } from "./test-folder.ts";

/** Tests of faults need private servers, because a fault would disturb the shared servers. */
export const ownServers: OwnPrograms[] = serverKinds.flatMap((kind) => {
  const programs = kind === "mysql" ? findMysql() : provideMariadb(console.error);
  return programs ? [{ kind, programs }] : [];
});

type OwnPrograms = { kind: "mariadb" | "mysql"; programs: ServerPrograms };

export async function startOwnServer(
  t: Pick<ExecutionContext, "teardown">,
  { kind, programs }: OwnPrograms,
  parameters: string[] = [],
): Promise<OwnServer> {
  const folder = await createTestFolder(t);
  // Copying the shared server's initial data saves MySQL 3 s of CPU time.
  const newData = process.env[`TEST_${kind.toUpperCase()}_NEW_DATA`];
  let server = await startDatabaseServer(programs, { folder, newData, parameters });
  t.teardown(() => server.stop());
  const { url, port } = server;
  return {
    url,
    port,
    stop: () => server.stop(),
    async start() {
      server = await startDatabaseServer(programs, { folder, port, parameters });
    },
  };
}

export type OwnServer = { url: string; port: number; stop(): Promise<void>; start(): Promise<void> };

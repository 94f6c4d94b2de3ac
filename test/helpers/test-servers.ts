import { startDatabaseServer, type ServerPrograms } from "./database-server.ts";
import { provideMariadb } from "./mariadb-programs.ts";
import { provideMysql } from "./mysql-programs.ts";
import { queryDatabase } from "./query-database.ts";
import { writeSchemaTemplates } from "./schema-templates.ts";
import type { ServerKind } from "./test-database.ts";

/**
 * Starts MariaDB and MySQL for a run of tests, if available. A server in TEST_MARIADB_URL or TEST_MYSQL_URL
 * takes precedence.
 */
export async function startTestServers(say: (line: string) => void): Promise<TestServers> {
  const servers = await Promise.all([
    startServer("mariadb", provideMariadb, say),
    startServer("mysql", provideMysql, say),
  ]);
  const running = servers.filter(({ url }) => url !== "");
  const versions = await Promise.all(running.map(({ url }) => versionOf(url)));
  const schemas = await writeSchemaTemplates(Object.fromEntries(running.map(({ kind, url }) => [kind, url])));
  return {
    environment: {
      ...Object.fromEntries(servers.map(({ variable, url }) => [variable, url])),
      ...Object.fromEntries(
        servers.flatMap(({ kind, newData }) =>
          newData === undefined ? [] : [[`TEST_${kind.toUpperCase()}_NEW_DATA`, newData]],
        ),
      ),
      TEST_SCHEMAS: schemas.folder,
    },
    names: ["SQLite", ...versions],
    missing: servers.filter(({ url }) => url === "").map(({ variable }) => variable),
    async stop() {
      await Promise.all([schemas.remove(), ...servers.map(({ stop }) => stop())]);
    },
  };
}

export type TestServers = {
  environment: Record<string, string>;
  names: string[];
  /** The URL variables of the servers that are missing or did not start. */
  missing: string[];
  stop(): Promise<void>;
};

async function startServer(
  kind: ServerKind,
  provide: (say: (line: string) => void) => ServerPrograms | undefined,
  say: (line: string) => void,
) {
  const variable = `TEST_${kind.toUpperCase()}_URL`;
  const none = { kind, variable, url: process.env[variable] ?? "", newData: undefined, stop: async () => {} };
  if (none.url !== "") return none;
  const programs = provide(say);
  if (!programs) return none;
  try {
    return { kind, variable, ...(await startDatabaseServer(programs)) };
  } catch (error) {
    console.error(error);
    return none;
  }
}

async function versionOf(url: string): Promise<string> {
  const [row] = await queryDatabase(url, "SELECT VERSION() AS version");
  const version = String(row?.["version"]);
  return `${/mariadb/i.test(version) ? "MariaDB" : "MySQL"} ${/^[\d.]+/.exec(version)?.[0]}`;
}

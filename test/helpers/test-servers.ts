import { startDatabaseServer, type ServerPrograms } from "./database-server.ts";
import { provideMariadb } from "./mariadb-programs.ts";
import { provideMysql } from "./mysql-programs.ts";
import { queryDatabase } from "./query-database.ts";

/**
 * Starts MariaDB and MySQL for a run of tests, if available. A server in TEST_MARIADB_URL or TEST_MYSQL_URL
 * takes precedence.
 */
export async function startTestServers(say: (line: string) => void): Promise<TestServers> {
  const servers = await Promise.all([
    startServer("TEST_MARIADB_URL", provideMariadb, say),
    startServer("TEST_MYSQL_URL", provideMysql, say),
  ]);
  const running = servers.filter(({ url }) => url !== "");
  const versions = await Promise.all(running.map(({ url }) => versionOf(url)));
  return {
    environment: Object.fromEntries(servers.map(({ variable, url }) => [variable, url])),
    names: ["SQLite", ...versions],
    missing: servers.filter(({ url }) => url === "").map(({ variable }) => variable),
    async stop() {
      await Promise.all(servers.map(({ stop }) => stop()));
    },
  };
}

export type TestServers = {
  environment: Record<string, string>;
  /** The databases of this run, with versions. */
  names: string[];
  /** The environment variables of the servers that this machine lacks. */
  missing: string[];
  stop(): Promise<void>;
};

async function startServer(
  variable: string,
  provide: (say: (line: string) => void) => ServerPrograms | undefined,
  say: (line: string) => void,
) {
  const none = { variable, url: process.env[variable] ?? "", stop: async () => {} };
  if (none.url !== "") return none;
  const programs = provide(say);
  if (!programs) return none;
  try {
    return { variable, ...(await startDatabaseServer(programs)) };
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

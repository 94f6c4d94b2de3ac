import type { ServerPrograms } from "./database-server.ts";
import { findProgram, installPackages } from "./system-packages.ts";

/**
 * Finds MariaDB or installs it if possible. Otherwise returns undefined. `say` receives the progress and
 * problems, line by line.
 */
export function provideMariadb(say: (line: string) => void): ServerPrograms | undefined {
  const present = findMariadb();
  if (present?.dump) return present;
  const problem = installPackages("MariaDB", packages, say);
  const installed = findMariadb();
  if (!installed) {
    say(
      `${problem ?? "apt-get installed MariaDB, but not where it was looked for."} The tests on MariaDB are skipped.`,
    );
  }
  return installed;
}

/** The first package's installer runs `my_print_defaults` of the second. The third has `mariadb-dump`. */
const packages = ["mariadb-server-core", "mariadb-client-core", "mariadb-client"];

/** Ignores MySQL, which also has a `mysqld`, but no `mysql_install_db`. */
function findMariadb(): ServerPrograms | undefined {
  const installer = findProgram("mariadb-install-db", "mysql_install_db");
  const server = findProgram("mariadbd", "mysqld");
  if (!installer || !server || !findProgram("my_print_defaults")) return undefined;
  const client = findProgram("mariadb", "mysql");
  return { installer, server, client, dump: findProgram("mariadb-dump", "mysqldump") };
}

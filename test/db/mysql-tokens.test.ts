import { writeFile } from "node:fs/promises";
import path from "node:path";
import test from "ava";
import { Database } from "../../db/database.ts";
import { DatabaseUnavailableError } from "../../db/database-errors.ts";
import { eventually } from "../helpers/eventually.ts";
import { makeCertificate } from "../helpers/make-certificate.ts";
import { openDatabaseAt, userRow } from "../helpers/open-test-database.ts";
import { createServerDatabase, serverKind } from "../helpers/test-database.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { startTokenDatabase } from "../helpers/token-database.ts";
import { skipUnless } from "../helpers/skip-unless.ts";

const limits = { connectionsMax: 3, connectTimeoutMs: 15_000, operationTimeoutMs: 15_000 };
const credentials = {
  AWS_REGION: "eu-central-1",
  AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE",
  AWS_SECRET_ACCESS_KEY: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};

/** Starts a proxy in front of the test server. The proxy requires a token as the password. */
async function setUp(
  t: Parameters<typeof createTestFolder>[0],
  accepts: (token: string) => boolean = () => true,
) {
  Object.assign(process.env, credentials);
  const url = new URL(await createServerDatabase(t));
  const authority = makeCertificate({ name: "Test authority" });
  const certificate = makeCertificate({ name: "rds", hosts: ["localhost"], issuer: authority });
  const file = path.join(await createTestFolder(t), "ca.pem");
  await writeFile(file, authority.certificate);
  const tokens: string[] = [];
  const guard = await startTokenDatabase(t, {
    port: Number(url.port),
    certificate,
    accepts(token) {
      tokens.push(token);
      return accepts(token);
    },
  });
  url.hostname = "localhost";
  url.port = String(guard.port);
  url.searchParams.set("ssl-ca", file);
  url.searchParams.set("auth", "iam");
  return { url: url.href, tokens, guard };
}

skipUnless(serverKind, "a database server");
if (serverKind) {
  test.serial("every new connection sends its own token, signed for this host and user", async (t) => {
    const { url, tokens, guard } = await setUp(t);
    const database = await openDatabaseAt(t, url, limits);
    await database.write(({ users }) => users.insert(userRow("usr_1")));

    const made = tokens.length;
    const [first = ""] = tokens;
    const token = new URL(`https://${first}`);
    t.is(token.host, `localhost:${guard.port}`);
    t.like(Object.fromEntries(token.searchParams), {
      Action: "connect",
      DBUser: "root",
      "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
      "X-Amz-Expires": "900",
    });
    t.regex(
      token.searchParams.get("X-Amz-Credential") ?? "",
      /^AKIA\w+\/\d{8}\/eu-central-1\/rds-db\/aws4_request$/,
    );
    t.regex(token.searchParams.get("X-Amz-Signature") ?? "", /^[0-9a-f]{64}$/);

    // An existing connection needs no new token.
    await database.read(({ users }) => users.count());
    t.is(tokens.length, made);
    const known = new Set(tokens);
    await eventually(async () => {
      guard.cutAll();
      await database.read(({ users }) => users.count()).catch(() => {});
      // A token contains the time in seconds, so a later token differs.
      return tokens.some((token) => !known.has(token));
    });
    t.is(await database.read(({ users }) => users.count()), 1);
  });

  test.serial("a rejected or missing token throws a DatabaseUnavailableError", async (t) => {
    const refusing = await setUp(t, () => false);
    await t.throwsAsync(Database.open(refusing.url, limits), {
      instanceOf: DatabaseUnavailableError,
      message: /ER_ACCESS_DENIED_ERROR/,
    });

    const { url, tokens } = await setUp(t);
    for (const name of Object.keys(credentials)) delete process.env[name];
    process.env["AWS_EC2_METADATA_DISABLED"] = "true";
    process.env["AWS_REGION"] = "eu-central-1";
    await t.throwsAsync(Database.open(url, limits), {
      instanceOf: DatabaseUnavailableError,
      message: /AUTH_SWITCH_PLUGIN_ERROR: .*credentials/,
    });
    t.deepEqual(tokens, []);
  });
}

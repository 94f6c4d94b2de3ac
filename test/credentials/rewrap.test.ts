import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import test, { type ExecutionContext } from "ava";
import { recommendedStrength } from "../../gateway/runtime.ts";
import { Kms } from "../../gateway/credentials/kms.ts";
import { SecretBox, sealingKeyIdOf } from "../../gateway/credentials/secret-box.ts";
import { openCredential, sealCredential } from "../../gateway/credentials/credential.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { eventually, hangMs } from "../helpers/eventually.ts";
import { awsEnvironment, keyArn, otherKeyArn, startFakeKms } from "../helpers/fake-kms.ts";
import { startGatewayProcess } from "../helpers/gateway-process.ts";
import { runInProcess } from "../helpers/run-in-process.ts";
import { openDatabaseAt, providerRow } from "../helpers/open-test-database.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { isFull } from "../helpers/scale.ts";
import { createUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { createMigratedDatabase, type DatabaseKind, lockingKinds } from "../helpers/test-database.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { patience, startTestGateway } from "../helpers/test-gateway.ts";

const kills = isFull ? 10 : 2;
const clocks = { now: Date.now, monotonicNow: Date.now };
const runtime = { ...clocks, randomBytes, hashStrength: recommendedStrength, log: console };

/** Seals credentials with a key file, as a gateway without KMS does. */
async function setUp(t: ExecutionContext, kind: DatabaseKind, count: number) {
  const kms = await startFakeKms(t);
  Object.assign(process.env, awsEnvironment(kms));
  const DATA_DIR = await createTestFolder(t);
  const DATABASE_URL = await createMigratedDatabase(t, kind);
  const fileKey = randomBytes(32);
  await writeFile(path.join(DATA_DIR, "master.key"), fileKey.toString("base64"), { mode: 0o600 });
  const database = await openDatabaseAt(t, DATABASE_URL);
  const local = new SecretBox(fileKey, runtime);
  const provider = providerRow("prv_1");
  const rows = Array.from({ length: count }, (_, index) =>
    sealCredential(local, runtime, { providerId: provider.id, apiKey: `secret ${index}` }),
  );
  await database.write(async ({ providers }) => {
    await providers.insert(provider);
    for (const row of rows) await providers.insertCredential(row);
  });
  const secrets = new Map(rows.map(({ id }, index) => [id, `secret ${index}`]));

  const list = () => database.read(({ providers }) => providers.listCredentials());
  const listDataKeys = () => database.read(({ dataKeys }) => dataKeys.list());
  /** Returns how many credentials open correctly with the given keys and all data keys. */
  const countIntact = async (...keys: Buffer[]) => {
    const box = new SecretBox(null, runtime);
    for (const key of keys) box.openWith(key);
    const options = { keyId: keyArn, encryptionContext: { app: "gateway" }, timeoutMs: hangMs };
    for (const row of await listDataKeys()) box.openWith(await new Kms(options).unwrap(row));
    return (await list()).filter((row) => opens(box, row) === secrets.get(row.id)).length;
  };
  const environment: Record<string, string> = {
    ...patience,
    DATA_DIR,
    DATABASE_URL,
    KMS_KEY_ID: keyArn,
    KMS_TIMEOUT_MS: String(hangMs),
    ...awsEnvironment(kms),
  };
  const rewrap = (more: Record<string, string> = {}) =>
    runInProcess({ ...environment, ...more }, "credentials:rewrap");
  return { kms, environment, fileKey, list, listDataKeys, countIntact, rewrap };
}

function opens(...parameters: Parameters<typeof openCredential>): string | null {
  try {
    return openCredential(...parameters);
  } catch {
    return null;
  }
}

for (const kind of lockingKinds) {
  test.serial(`${kind}: a move from a file to KMS survives ${kills} kills, and secrets open`, async (t) => {
    const count = 500;
    const { kms, fileKey, environment, list, listDataKeys, countIntact } = await setUp(t, kind, count);
    const rewrap = () => startGatewayProcess(t, environment, "credentials:rewrap");
    const fileKeyId = new SecretBox(fileKey, runtime).sealingKeyId;
    const countMoved = async () =>
      (await list()).filter(({ sealed }) => sealingKeyIdOf(sealed) !== fileKeyId).length;

    for (let kill = 0; kill < kills; kill++) {
      const before = await countMoved();
      const calls = kms.calls.length;
      const running = rewrap();
      // Counting reads all credentials, so it starts after the command has asked KMS for its key.
      await eventually(() => kms.calls.length > calls);
      await eventually(async () => (await countMoved()) > before);
      running.child.kill("SIGKILL");
      t.is(await running.exited, null, "it was at work when it was killed");
      t.is(await countIntact(fileKey), count);
    }
    const moved = await countMoved();
    t.true(moved < count, "something is left for the end");

    const last = rewrap();
    t.is(await last.exited, 0, last.stderr());
    const [dataKey, ...others] = await listDataKeys();
    t.is(last.stdout(), `Secrets moved to the key ${dataKey?.id}: ${count - moved}.\n`);
    t.deepEqual(others, [], "each went on where the one before was stopped");

    await rm(path.join(environment["DATA_DIR"] ?? "", "master.key"));
    t.is(await countIntact(), count, "without the key file");
  });
}

test.serial("a second run moves everything to a new data key of the configured KMS key", async (t) => {
  const { list, listDataKeys, countIntact, rewrap } = await setUp(t, "sqlite", 20);
  t.is((await rewrap()).exitCode, 0);

  const again = await rewrap({ KMS_KEY_ID: otherKeyArn });
  t.is(again.exitCode, 0, again.stderr);

  const [newest, first, ...more] = await listDataKeys();
  t.deepEqual([newest?.kmsKeyId, first?.kmsKeyId, more], [otherKeyArn, keyArn, []]);
  t.deepEqual(new Set((await list()).map(({ sealed }) => sealingKeyIdOf(sealed))), new Set([newest?.id]));
  t.is(await countIntact(), 20);
});

test.serial("an undecryptable secret stays unchanged, is named, and sets exit code 1", async (t) => {
  const { environment, list } = await setUp(t, "sqlite", 3);
  await rm(path.join(environment["DATA_DIR"] ?? "", "master.key"));
  const before = await list();

  const running = startGatewayProcess(t, environment, "credentials:rewrap");
  t.is(await running.exited, 1);
  t.regex(running.stdout(), /: 0\./);
  for (const { id } of before) t.true(running.stdout().includes(id), id);
  t.deepEqual(await list(), before);
});

test.serial("secrets move away from a previous master key, with and without KMS", async (t) => {
  const { environment, fileKey, list, rewrap } = await setUp(t, "sqlite", 10);
  await rm(path.join(environment["DATA_DIR"] ?? "", "master.key"));
  const newKey = randomBytes(32);
  const keys = {
    KMS_KEY_ID: "",
    MASTER_KEY: newKey.toString("base64"),
    MASTER_KEY_PREVIOUS: fileKey.toString("base64"),
  };

  const toNewKey = await rewrap(keys);
  t.is(toNewKey.exitCode, 0, toNewKey.stderr);
  t.regex(toNewKey.stdout, /: 10\./);
  const box = new SecretBox(newKey, runtime);
  t.is((await list()).filter((row) => opens(box, row) !== null).length, 10);
  t.regex((await rewrap(keys)).stdout, /: 0\./);

  const toKms = await rewrap({ MASTER_KEY_PREVIOUS: keys.MASTER_KEY });
  t.regex(toKms.stdout, /: 10\./);
});

test.serial("an unavailable KMS changes nothing and is reported", async (t) => {
  const { kms, list, rewrap } = await setUp(t, "sqlite", 3);
  await kms.stop();
  const before = await list();
  const { exitCode, stderr } = await rewrap();
  t.is(exitCode, 1);
  t.is(
    stderr,
    "The data key is unavailable: KMS is unreachable (ECONNREFUSED). Check the network and the region.\n",
  );
  t.deepEqual(await list(), before);
});

test.serial("a running process loads the new data key and needs no KMS afterwards", async (t) => {
  const { kms, environment, rewrap } = await setUp(t, "sqlite", 0);
  const upstream = await createUpstream(t, (_request, response) => sendCompletion(response));
  const gateway = await startTestGateway(t, { environment });
  const { value, model } = await connectUpstream(gateway, upstream);

  const { exitCode, stderr } = await rewrap();
  t.is(exitCode, 0, stderr);
  const { database } = gateway.services;
  const [newest] = await database.read(({ dataKeys }) => dataKeys.list());
  await eventually(() => kms.calls.filter(({ operation }) => operation === "Decrypt").length === 2);
  await kms.stop();

  await connectUpstream(gateway, upstream, { name: "another" });
  t.is((await postChat(gateway, value, chatBody(model))).status, 200);
  const credentials = await database.read(({ providers }) => providers.listCredentials());
  const sealingKeyIds = credentials.map(({ sealed }) => sealingKeyIdOf(sealed));
  t.deepEqual(sealingKeyIds, [newest?.id, newest?.id]);
});

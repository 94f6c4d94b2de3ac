import test, { type ExecutionContext } from "ava";
import { assertError, serverError } from "../helpers/assert-error.ts";
import { connectUpstream, upstreamSecret } from "../helpers/connect-upstream.ts";
import { dumpDatabase } from "../helpers/dump-database.ts";
import { eventually, hangMs } from "../helpers/eventually.ts";
import { awsEnvironment, type FakeKms, keyArn, startFakeKms } from "../helpers/fake-kms.ts";
import { findLeaks } from "../helpers/find-leaks.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { createMigratedDatabase, databaseKinds } from "../helpers/test-database.ts";
import { startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const kmsEnvironment = {
  KMS_KEY_ID: keyArn,
  KMS_ENCRYPTION_CONTEXT: "app=gateway,stack=test",
  KMS_RETRY_INTERVAL_MS_MAX: "50",
  // A busy machine must not repeat a request.
  KMS_TIMEOUT_MS: String(hangMs),
};

/** Tests that call this function run serially, because it sets the AWS variables of the whole process. */
async function setUp(t: ExecutionContext) {
  const kms = await startFakeKms(t);
  Object.assign(process.env, awsEnvironment(kms));
  const upstream = await createUpstream(t, (_request, response) => sendCompletion(response));
  return { kms, upstream };
}

async function readiness({ url }: Pick<TestGateway, "url">): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, body: await response.json() };
}

function dataKeysOf({ services }: TestGateway) {
  return services.database.read(({ dataKeys }) => dataKeys.list());
}

const operationsOf = ({ calls }: FakeKms) => calls.map(({ operation }) => operation);

for (const kind of databaseKinds) {
  test.serial(`${kind}: a provider key sealed under KMS opens in another process`, async (t) => {
    const { kms, upstream } = await setUp(t);
    const environment = { ...kmsEnvironment, DATABASE_URL: await createMigratedDatabase(t, kind) };
    const one = await startTestGateway(t, { environment });
    const { value, model } = await connectUpstream(one, upstream);
    t.deepEqual(operationsOf(kms), ["GenerateDataKey"]);

    const other = await startTestGateway(t, { environment });
    t.deepEqual(operationsOf(kms), ["GenerateDataKey", "Decrypt"]);
    t.is((await postChat(other, value, chatBody(model))).status, 200);
    t.is(upstream.requests.at(-1)?.headers.authorization, `Bearer ${upstreamSecret}`);
    for (const { input } of kms.calls)
      t.deepEqual(input.EncryptionContext, { app: "gateway", stack: "test" });

    const [dataKey, ...more] = await dataKeysOf(one);
    t.deepEqual(more, []);
    const [credential] = await one.services.database.read(({ providers }) => providers.listCredentials());
    t.is(credential?.sealed.split(".")[1], dataKey?.id, "the envelope names the data key");
    t.deepEqual(findLeaks(await dumpDatabase(environment.DATABASE_URL), { secret: upstreamSecret }), []);
  });

  test.serial(`${kind}: of gateways that start at once, the first writes the data key`, async (t) => {
    const { kms } = await setUp(t);
    const environment = {
      ...kmsEnvironment,
      DATABASE_URL: await createMigratedDatabase(t, kind),
    };
    // KMS responds only after all gateways have sent a request, so that each generates a data key.
    kms.holdUntil = { operation: "GenerateDataKey", count: 3 };
    const gateways = await Promise.all(
      [1, 2, 3].map(() => startTestGateway(t, { environment, withoutAdministrator: true })),
    );

    for (const gateway of gateways) t.is((await readiness(gateway)).status, 200);
    t.deepEqual(operationsOf(kms).toSorted(), [
      "Decrypt",
      "Decrypt",
      "GenerateDataKey",
      "GenerateDataKey",
      "GenerateDataKey",
    ]);
    const rows = (await dumpDatabase(environment.DATABASE_URL)).split("\n");
    t.is(rows.filter((row) => row.includes(`"kms_key_id":"${keyArn}"`)).length, 1);
  });
}

test.serial("a start without KMS is live, not ready, reports why, and recovers", async (t) => {
  const { kms, upstream } = await setUp(t);
  const environment = { ...kmsEnvironment, DATABASE_URL: await createMigratedDatabase(t, "sqlite") };
  const before = await startTestGateway(t, { environment });
  const { value, model } = await connectUpstream(before, upstream);
  await before.close();

  await kms.stop();
  const gateway = await startTestGateway(t, { environment });
  const url = `${gateway.url}/healthz`;
  t.is((await fetch(url)).status, 200);
  t.deepEqual(await readiness(gateway), {
    status: 503,
    body: {
      status: "waiting",
      reason: "KMS is unreachable (ECONNREFUSED). Check the network and the region",
    },
  });
  assertError(t, await postChat(gateway, value, chatBody(model)), serverError(503, "service_unavailable"));
  const adding = gateway.admin.providers.create.mutate({
    name: "more",
    kind: "openai-compatible",
    baseUrl: `${upstream.url}/v1`,
    apiKey: upstreamSecret,
  });
  await t.throwsAsync(adding, { message: /encryption key is not loaded.*\/readyz/ });

  kms.behave = () => "AccessDeniedException";
  await kms.start();
  await eventually(async () => JSON.stringify(await readiness(gateway)).includes("AccessDeniedException"));
  t.false(JSON.stringify(await readiness(gateway)).includes("arn:"));

  kms.behave = () => undefined;
  await eventually(async () => (await readiness(gateway)).status === 200);
  const answer = await postChat(gateway, value, chatBody(model));
  t.is(answer.status, 200);
  t.is(upstream.requests.at(-1)?.headers.authorization, `Bearer ${upstreamSecret}`);
  t.true(gateway.log.some((line) => line.includes("loaded the data keys")));
});

test.serial("a first start without KMS creates the data key once KMS is available", async (t) => {
  const { kms, upstream } = await setUp(t);
  await kms.stop();
  const gateway = await startTestGateway(t, { environment: kmsEnvironment });
  t.is((await readiness(gateway)).status, 503);

  await kms.start();
  await eventually(async () => (await readiness(gateway)).status === 200);
  const { value, model } = await connectUpstream(gateway, upstream);
  t.is((await postChat(gateway, value, chatBody(model))).status, 200);
  t.is((await dataKeysOf(gateway)).length, 1);
});

test.serial("a hanging KMS does not block the start", async (t) => {
  const { kms } = await setUp(t);
  kms.behave = () => "hang";
  const gateway = await startTestGateway(t, { environment: { ...kmsEnvironment, KMS_TIMEOUT_MS: "200" } });
  t.deepEqual(await readiness(gateway), {
    status: 503,
    body: {
      status: "waiting",
      reason: "KMS did not respond within 200 ms. Check the network, or raise KMS_TIMEOUT_MS",
    },
  });
});

test.serial("a start with another encryption context is not ready and reports why", async (t) => {
  await setUp(t);
  const environment = { ...kmsEnvironment, DATABASE_URL: await createMigratedDatabase(t, "sqlite") };
  await (await startTestGateway(t, { environment })).close();
  const KMS_ENCRYPTION_CONTEXT = "app=gateway,stack=other";
  const gateway = await startTestGateway(t, { environment: { ...environment, KMS_ENCRYPTION_CONTEXT } });
  const { status, body } = await readiness(gateway);
  t.is(status, 503);
  t.regex(JSON.stringify(body), /InvalidCiphertextException.*KMS_ENCRYPTION_CONTEXT/);
});

test.serial("a running process serves ten minutes without KMS and fails no request", async (t) => {
  const { kms, upstream } = await setUp(t);
  let now = Date.now();
  const gateway = await startTestGateway(t, { environment: kmsEnvironment, runtime: { now: () => now } });
  const first = await connectUpstream(gateway, upstream);
  await kms.stop();
  const calls = kms.calls.length;

  const statuses: number[] = [];
  for (let minute = 0; minute < 10; minute++) {
    // A new provider each minute makes the gateway seal and open a secret without KMS.
    const { value, model } = await connectUpstream(gateway, upstream, { name: `more-${minute}` });
    for (const [key, slug] of [
      [value, model],
      [first.value, first.model],
    ] as const) {
      statuses.push((await postChat(gateway, key, chatBody(slug))).status);
    }
    t.is((await readiness(gateway)).status, 200);
    now += 60_000;
  }
  t.deepEqual(statuses, Array(20).fill(200));
  t.is(kms.calls.length, calls);
  t.false(gateway.log.some((line) => line.includes("KMS")));
});

import test from "ava";
import { Kms, KmsError } from "../../gateway/credentials/kms.ts";
import { hangMs } from "../helpers/eventually.ts";
import { awsEnvironment, type Fault, keyArn, otherKeyArn, startFakeKms } from "../helpers/fake-kms.ts";

const encryptionContext = { app: "gateway", stack: "prod" };

/** Tests that call this function run serially, because it sets the AWS variables of the whole process. */
async function setUp(
  t: Parameters<typeof startFakeKms>[0],
  more: Partial<ConstructorParameters<typeof Kms>[0]> = {},
) {
  const fake = await startFakeKms(t);
  Object.assign(process.env, awsEnvironment(fake));
  return { fake, kms: new Kms({ keyId: keyArn, encryptionContext, timeoutMs: hangMs, ...more }) };
}

test.serial("a data key is created and decrypted; key, context and signature are sent", async (t) => {
  const { fake, kms } = await setUp(t);

  const made = await kms.generateDataKey();
  t.is(made.key.length, 32);
  t.is(made.kmsKeyId, keyArn);
  t.deepEqual(await kms.unwrap(made), made.key);

  const sent = fake.calls.map(({ operation, input }) => [operation, input.KeyId, input.EncryptionContext]);
  t.deepEqual(sent, [
    ["GenerateDataKey", keyArn, encryptionContext],
    ["Decrypt", keyArn, encryptionContext],
  ]);
  for (const { authorization } of fake.calls) {
    t.regex(
      authorization,
      /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/\d{8}\/eu-central-1\/kms\/aws4_request/,
    );
  }
});

test.serial("a key given by its id alone belongs to the process's own region", async (t) => {
  const { kms } = await setUp(t, { keyId: keyArn.slice(keyArn.indexOf("/") + 1) });
  const made = await kms.generateDataKey();
  t.is(made.kmsKeyId, keyArn, "what is kept says which key it was, whatever it is called later");
  t.deepEqual(await kms.unwrap(made), made.key);
});

test.serial("another context or another KMS key fails to decrypt", async (t) => {
  const { kms } = await setUp(t);
  const made = await kms.generateDataKey();
  const contexts: Record<string, string>[] = [
    { app: "gateway" },
    { app: "gateway", stack: "dev" },
    { ...encryptionContext, more: "1" },
    {},
  ];
  for (const context of contexts) {
    const other = new Kms({ keyId: keyArn, encryptionContext: context, timeoutMs: hangMs });
    await t.throwsAsync(other.unwrap(made), {
      instanceOf: KmsError,
      message: /InvalidCiphertextException.*CONTEXT/,
    });
  }
  const moved = { ...made, kmsKeyId: otherKeyArn };
  await t.throwsAsync(kms.unwrap(moved), { instanceOf: KmsError, message: /IncorrectKeyException/ });
});

for (const fault of [
  "ThrottlingException",
  "KMSInternalException",
  "DependencyTimeoutException",
  "reset",
] as Fault[]) {
  test.serial(`${fault} is retried, up to three times in total`, async (t) => {
    const { fake, kms } = await setUp(t);
    fake.behave = (_call, count) => (count < 3 ? fault : undefined);
    t.is((await kms.generateDataKey()).key.length, 32);
    t.is(fake.calls.length, 3);

    fake.behave = () => fault;
    await t.throwsAsync(kms.generateDataKey(), { instanceOf: KmsError });
    t.is(fake.calls.length, 6);
  });
}

for (const fault of [
  "AccessDeniedException",
  "DisabledException",
  "KMSInvalidStateException",
  "NotFoundException",
] as const) {
  test.serial(`${fault} is reported at once, without the ARN that KMS repeats`, async (t) => {
    const { fake, kms } = await setUp(t);
    fake.behave = () => fault;
    const error = await t.throwsAsync(kms.generateDataKey(), { instanceOf: KmsError });
    t.true(error?.message.startsWith(`KMS rejected the request (${fault}). `), error?.message);
    t.false(error?.message.includes("arn:"));
    t.is(fake.calls.length, 1);
  });
}

test.serial("a KMS that never answers times out", async (t) => {
  const { fake, kms } = await setUp(t, { timeoutMs: 15_000 });
  fake.behave = () => "hang";
  await t.throwsAsync(kms.generateDataKey(), {
    instanceOf: KmsError,
    message: "KMS did not respond within 15000 ms. Check the network, or raise KMS_TIMEOUT_MS",
  });
  t.is(fake.calls.length, 2, "half of the time is for the first attempt");
});

test.serial("an unreachable KMS is reported", async (t) => {
  const { fake, kms } = await setUp(t);
  await fake.stop();
  await t.throwsAsync(kms.generateDataKey(), {
    instanceOf: KmsError,
    message: /is unreachable \(ECONNREFUSED\)/,
  });
});

test.serial("missing credentials send no request to KMS", async (t) => {
  const { fake, kms } = await setUp(t, { timeoutMs: 2_000 });
  delete process.env["AWS_ACCESS_KEY_ID"];
  delete process.env["AWS_SECRET_ACCESS_KEY"];
  // Without this variable, the SDK queries the EC2 metadata service.
  process.env["AWS_EC2_METADATA_DISABLED"] = "true";
  const error = await t.throwsAsync(kms.generateDataKey(), { instanceOf: KmsError });
  t.regex(error?.message ?? "", /AWS credentials for KMS are missing|did not respond/);
  t.is(fake.calls.length, 0);
});

import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import test, { type ExecutionContext } from "ava";
import { fillSecret } from "../../infra/fill-secret.ts";
import { createFakeAws, fakeCredentials, goodRelease } from "./helpers/fake-aws.ts";

const secretArn = "arn:aws:secretsmanager:eu-central-1:111122223333:secret:signing-AbCdEf";

test("an empty secret receives a random value that the gateway accepts", async (t) => {
  const { client, aws } = await setUp(t, {});
  await fillSecret(client, secretArn);
  await fillSecret(client, secretArn);
  t.deepEqual(aws.operations(), ["DescribeSecret", "PutSecretValue", "DescribeSecret", "PutSecretValue"]);
  const values = aws.requests.flatMap(({ input }) => (input["SecretString"] as string | undefined) ?? []);
  t.is(new Set(values).size, 2);
  for (const value of values) t.regex(value, /^[\w-]{64}$/);
  t.true(aws.requests.every(({ input, isSigned }) => isSigned && input["SecretId"] === secretArn));
});

test("an existing value is neither changed nor read", async (t) => {
  const { client, aws } = await setUp(t, {
    DescribeSecret: () => ({ VersionIdsToStages: { a: ["AWSPREVIOUS"], b: ["AWSCURRENT"] } }),
  });
  await fillSecret(client, secretArn);
  t.deepEqual(aws.operations(), ["DescribeSecret"]);
});

test("a lost response does not create a second value", async (t) => {
  const { client, aws } = await setUp(t, {
    PutSecretValue: (_, attempt) => (attempt === 1 ? { status: 500, error: "InternalServiceError" } : {}),
  });
  await fillSecret(client, secretArn);
  const puts = aws.requests
    .filter(({ operation }) => operation === "PutSecretValue")
    .map(({ input }) => input);
  t.is(puts.length, 2);
  t.deepEqual(puts[0], puts[1]);
  t.regex(String(puts[0]?.["ClientRequestToken"]), /^[0-9a-f-]{36}$/);
});

test("a secret that cannot be described is an error", async (t) => {
  const { client } = await setUp(t, {
    DescribeSecret: () => ({ status: 400, error: "AccessDeniedException" }),
  });
  await t.throwsAsync(fillSecret(client, secretArn), { name: "AccessDeniedException" });
});

async function setUp(t: ExecutionContext, answers: typeof goodRelease) {
  const aws = await createFakeAws(t, { ...goodRelease, ...answers });
  const client = new SecretsManagerClient({
    endpoint: aws.url,
    region: "eu-central-1",
    credentials: fakeCredentials,
  });
  t.teardown(() => client.destroy());
  return { client, aws };
}

import { spawn } from "node:child_process";
import path from "node:path";
import { text } from "node:stream/consumers";
import { CloudWatchLogsClient } from "@aws-sdk/client-cloudwatch-logs";
import { ECSClient } from "@aws-sdk/client-ecs";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import test, { type ExecutionContext } from "ava";
import { databaseUsersContainer } from "../../infra/containers.ts";
import { fillSecret } from "../../infra/fill-secret.ts";
import { runMigration } from "../../infra/run-migration.ts";
import { hangMs } from "../helpers/eventually.ts";
import { createFakeAws, fakeCredentials, goodRelease, stoppedTask } from "./helpers/fake-aws.ts";

const migration = {
  cluster: "arn:aws:ecs:eu-central-1:111122223333:cluster/gateway-prod",
  taskDefinition: "arn:aws:ecs:eu-central-1:111122223333:task-definition/gateway-prod-migrate:7",
  subnets: ["subnet-1", "subnet-2"],
  securityGroup: "sg-1",
  logGroup: "/gateway/prod/migrate",
};

test("the migration runs one task in private subnets and returns its log", async (t) => {
  const { run, aws, printed } = await setUp(t, {
    DescribeTasks: (_, attempt) => ({ tasks: [attempt < 3 ? { lastStatus: "RUNNING" } : stoppedTask()] }),
  });
  await run();
  const { clientToken, ...input } = aws.requests[0]?.input ?? {};
  t.regex(String(clientToken), /^[0-9a-f-]{36}$/);
  t.deepEqual(input, {
    cluster: migration.cluster,
    taskDefinition: migration.taskDefinition,
    launchType: "FARGATE",
    count: 1,
    startedBy: "pulumi",
    networkConfiguration: {
      awsvpcConfiguration: {
        subnets: migration.subnets,
        securityGroups: [migration.securityGroup],
        assignPublicIp: "DISABLED",
      },
    },
  });
  const waited = ["DescribeTasks", "DescribeTasks", "DescribeTasks"];
  t.deepEqual(aws.operations(), ["RunTask", ...waited, "GetLogEvents"]);
  t.like(aws.requests.at(-1)?.input, { logGroupName: migration.logGroup, logStreamName: "task/migrate/abc" });
  t.true(aws.requests.every(({ isSigned }) => isSigned));
  t.is(printed.at(-1), "Ran 0001.");
});

test("an overloaded ECS is retried and starts only one task", async (t) => {
  const { run, aws } = await setUp(t, {
    RunTask: (input, attempt) => {
      if (attempt === 1) return { status: 400, error: "ThrottlingException" };
      return attempt === 2 ? { status: 500, error: "ServerException" } : good("RunTask", input);
    },
    DescribeTasks: (input, attempt) =>
      attempt === 1 ? { status: 503, error: "ServiceUnavailable" } : good("DescribeTasks", input),
  });
  await run();
  const tokens = aws.requests
    .filter(({ operation }) => operation === "RunTask")
    .map(({ input }) => input["clientToken"]);
  t.is(tokens.length, 3);
  t.is(new Set(tokens).size, 1);
});

test("an unanswered request times out and is sent again", async (t) => {
  const answers: typeof goodRelease = {
    RunTask: (input, attempt) => (attempt === 1 ? "hang" : good("RunTask", input)),
  };
  const { run, aws } = await setUp(t, answers, { requestTimeoutMs: 2_000 });
  await run();
  t.deepEqual(aws.operations().slice(0, 2), ["RunTask", "RunTask"]);
});

test("a task unknown to ECS is polled again", async (t) => {
  const { run, aws } = await setUp(t, {
    DescribeTasks: (_, attempt) =>
      attempt === 1 ? { tasks: [], failures: [{ reason: "MISSING" }] } : { tasks: [stoppedTask()] },
  });
  await run();
  t.is(aws.operations().filter((operation) => operation === "DescribeTasks").length, 2);
});

test("a failed migration is an error with its exit code and last lines", async (t) => {
  const { run } = await setUp(t, {
    DescribeTasks: () => ({ tasks: [stoppedTask({ exitCode: 0 }, { exitCode: 1 })] }),
    GetLogEvents: () => ({ events: [{ message: "The database refuses: Duplicate column" }] }),
  });
  const { message } = await t.throwsAsync(run);
  t.regex(message, /migrate exited with code 1/);
  t.regex(message, /Duplicate column/);
  t.regex(message, /still runs the previous release/);
});

test("a failure to create users is an error with its exit code and last lines", async (t) => {
  const { run, aws } = await setUp(t, {
    DescribeTasks: () => ({ tasks: [stoppedTask({ exitCode: 1 }, {})] }),
  });
  await t.throwsAsync(run, { message: /database-users exited with code 1/ });
  t.is(aws.requests.at(-1)?.input["logStreamName"], "task/database-users/abc");
});

test("an image that cannot be pulled is reported, with or without logs", async (t) => {
  const { run } = await setUp(t, {
    DescribeTasks: () => ({ tasks: [stoppedTask({}, { reason: "CannotPullContainerError: not found" })] }),
    GetLogEvents: () => ({ status: 400, error: "ResourceNotFoundException" }),
  });
  await t.throwsAsync(run, { message: /did not start: CannotPullContainerError/ });
});

test("a task that cannot be placed is reported with ECS's reason", async (t) => {
  const { run, aws } = await setUp(t, {
    RunTask: () => ({ tasks: [], failures: [{ reason: "AGENT", detail: "gone" }] }),
  });
  await t.throwsAsync(run, {
    message: "The migration did not start: AGENT: gone. Check the task definition, and run pulumi up again.",
  });
  t.deepEqual(aws.operations(), ["RunTask"]);
});

test("a refusal is not retried", async (t) => {
  const { run, aws } = await setUp(t, { RunTask: () => ({ status: 400, error: "AccessDeniedException" }) });
  await t.throwsAsync(run, { name: "AccessDeniedException" });
  t.deepEqual(aws.operations(), ["RunTask"]);
});

test("a migration that never ends is stopped and reported", async (t) => {
  const answers = { DescribeTasks: () => ({ tasks: [{ lastStatus: "RUNNING" }] }) };
  const { run, aws } = await setUp(t, answers, { timeoutMs: 300 });
  await t.throwsAsync(run, { message: /did not end within 0.3 s/ });
  t.true(aws.operations().includes("StopTask"));
});

test("a migration that can no longer be watched is stopped, too", async (t) => {
  const { run, aws } = await setUp(t, {
    DescribeTasks: () => ({ status: 400, error: "AccessDeniedException" }),
  });
  await t.throwsAsync(run, { name: "AccessDeniedException" });
  t.is(aws.operations().at(-1), "StopTask");
});

function good(operation: string, input: Record<string, unknown>): object {
  return goodRelease[operation]?.(input, 1) as object;
}

async function setUp(
  t: ExecutionContext,
  answers: typeof goodRelease,
  { timeoutMs = hangMs, requestTimeoutMs = hangMs } = {},
) {
  const aws = await createFakeAws(t, { ...goodRelease, ...answers });
  const requestHandler = { requestTimeout: requestTimeoutMs, throwOnRequestTimeout: true };
  const options = {
    endpoint: aws.url,
    region: "eu-central-1",
    credentials: fakeCredentials,
    maxAttempts: 5,
    requestHandler,
  };
  const clients = { ecs: new ECSClient(options), logs: new CloudWatchLogsClient(options) };
  t.teardown(() => Object.values(clients).forEach((client) => client.destroy()));
  const printed: string[] = [];
  const print = (line: string) => printed.push(line);
  const run = () => runMigration(clients, migration, { print, pollIntervalMs: 1, timeoutMs });
  return { run, aws, printed };
}

const secretArn = "arn:aws:secretsmanager:eu-central-1:111122223333:secret:signing-AbCdEf";

test("an empty secret receives a random value that the gateway accepts", async (t) => {
  const { client, aws } = await setUpSecrets(t, {});
  await fillSecret(client, secretArn);
  await fillSecret(client, secretArn);
  t.deepEqual(aws.operations(), ["DescribeSecret", "PutSecretValue", "DescribeSecret", "PutSecretValue"]);
  const values = aws.requests.flatMap(({ input }) => (input["SecretString"] as string | undefined) ?? []);
  t.is(new Set(values).size, 2);
  for (const value of values) t.regex(value, /^[\w-]{64}$/);
  t.true(aws.requests.every(({ input, isSigned }) => isSigned && input["SecretId"] === secretArn));
});

test("an existing value is neither changed nor read", async (t) => {
  const { client, aws } = await setUpSecrets(t, {
    DescribeSecret: () => ({ VersionIdsToStages: { a: ["AWSPREVIOUS"], b: ["AWSCURRENT"] } }),
  });
  await fillSecret(client, secretArn);
  t.deepEqual(aws.operations(), ["DescribeSecret"]);
});

test("a lost response does not create a second value", async (t) => {
  const { client, aws } = await setUpSecrets(t, {
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
  const { client } = await setUpSecrets(t, {
    DescribeSecret: () => ({ status: 400, error: "AccessDeniedException" }),
  });
  await t.throwsAsync(fillSecret(client, secretArn), { name: "AccessDeniedException" });
});

async function setUpSecrets(t: ExecutionContext, answers: typeof goodRelease) {
  const aws = await createFakeAws(t, { ...goodRelease, ...answers });
  const client = new SecretsManagerClient({
    endpoint: aws.url,
    region: "eu-central-1",
    credentials: fakeCredentials,
  });
  t.teardown(() => client.destroy());
  return { client, aws };
}

const container = databaseUsersContainer({
  image: "gateway",
  region: "eu-central-1",
  logGroup: "/gateway",
  environment: { DATABASE_HOST: "127.0.0.1" },
  secrets: { OWNER_PASSWORD: "arn:aws:secretsmanager:x:password::" },
});
const environment = Object.fromEntries(container.environment.map(({ name, value }) => [name, value]));

test("Node runs the program from its command line with the container's variables", async (t) => {
  // Nothing listens at the address, so a connection error proves that all variables are valid.
  const { exitCode, said } = await run({ ...environment, DATABASE_HOST: "127.255.255.254" });
  t.is(exitCode, 1);
  t.regex(said, /ECONNREFUSED|ENETUNREACH|EADDRNOTAVAIL/);
});

test("invalid names never become part of a statement", async (t) => {
  for (const name of ["APP_USER", "MIGRATE_USER", "DATABASE_NAME"]) {
    const { exitCode, said } = await run({ ...environment, [name]: "x'; DROP USER 'y" });
    t.is(exitCode, 1);
    t.regex(said, new RegExp(`${name} is "x'; DROP USER 'y"\\. Use only letters`));
  }
});

async function run(env: Record<string, string>): Promise<{ exitCode: number | null; said: string }> {
  const [, ...parameters] = container.command;
  const cwd = path.join(import.meta.dirname, "../..");
  const child = spawn(process.execPath, parameters, { cwd, env, stdio: ["ignore", "ignore", "pipe"] });
  const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { said: await text(child.stderr), exitCode: await closed };
}

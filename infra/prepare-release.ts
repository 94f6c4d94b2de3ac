import { CloudWatchLogsClient } from "@aws-sdk/client-cloudwatch-logs";
import { ECSClient } from "@aws-sdk/client-ecs";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import * as pulumi from "@pulumi/pulumi";
import { fillSecret } from "./fill-secret.ts";
import { type MigrationTask, runMigration } from "./run-migration.ts";

type PrepareReleaseArgs = {
  region: string;
  secretArns: pulumi.Output<string>[];
  migration: pulumi.Output<MigrationTask>;
};

/**
 * Runs before Pulumi creates or updates the service. Fills empty secrets, creates the database users and migrates the
 * database. If the hook fails, the service stays unchanged. Previews do not run the hook.
 */
export function prepareRelease(args: PrepareReleaseArgs): pulumi.ResourceHook {
  return new pulumi.ResourceHook("prepare-release", (change) => prepare(args, change));
}

export async function prepare(
  { region, secretArns, migration }: PrepareReleaseArgs,
  { newInputs, oldInputs }: Pick<pulumi.ResourceHookArgs, "newInputs" | "oldInputs">,
): Promise<void> {
  const taskDefinition = (inputs: unknown) =>
    (inputs as { taskDefinition?: unknown } | undefined)?.taskDefinition;
  // An update without a new task definition needs no preparation.
  if (oldInputs && taskDefinition(oldInputs) === taskDefinition(newInputs)) return;

  const arns = await Promise.all(secretArns.map(valueOf));
  const task = await valueOf(migration);
  const requestHandler = { connectionTimeout: 5_000, requestTimeout: 15_000, throwOnRequestTimeout: true };
  const options = { region, maxAttempts: 5, requestHandler };
  const clients = {
    secrets: new SecretsManagerClient(options),
    ecs: new ECSClient(options),
    logs: new CloudWatchLogsClient(options),
  };
  try {
    for (const secretArn of arns) await fillSecret(clients.secrets, secretArn);
    await runMigration(clients, task, { print: (line) => pulumi.log.info(line) });
  } finally {
    for (const client of Object.values(clients)) client.destroy();
  }
}

/** The promise resolves, because all dependencies of the service exist when the hook runs. */
function valueOf<Value>(output: pulumi.Output<Value>): Promise<Value> {
  return new Promise((resolve) => {
    output.apply((value) => resolve(value));
  });
}

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
 * What has to have happened before tasks of a new release start, as a hook that Pulumi runs in this process when it is about
 * to create or update the service: the secrets have values, and the database has its users and the new schema. When it
 * fails the service is left alone and the update fails. Previews do not run it.
 */
export function prepareRelease({ region, secretArns, migration }: PrepareReleaseArgs): pulumi.ResourceHook {
  return new pulumi.ResourceHook("prepare-release", async ({ newInputs, oldInputs }) => {
    const taskDefinition = (inputs: unknown) =>
      (inputs as { taskDefinition?: unknown } | undefined)?.taskDefinition;
    // An update that starts no other tasks has nothing to prepare.
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
  });
}

/** By the time the hook runs, everything the service depends on is there. */
function valueOf<Value>(output: pulumi.Output<Value>): Promise<Value> {
  return new Promise((resolve) => {
    output.apply((value) => resolve(value));
  });
}

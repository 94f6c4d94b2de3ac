import aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { executionRolePolicy, trustPolicy } from "./policies.ts";
import { repositoryOf } from "./names.ts";
import type { StackConfig } from "./stack-config.ts";

type TaskArgs = {
  config: StackConfig;
  family: string;
  cpu: number;
  memory: number;
  containers: pulumi.Input<object[]>;
  taskRoleArn: pulumi.Input<string>;
  logGroup: aws.cloudwatch.LogGroup;
  secretArns: pulumi.Input<string>[];
  storageKeyArn: pulumi.Input<string>;
};

export function task(
  name: string,
  args: TaskArgs,
  options: pulumi.CustomResourceOptions,
): { definition: aws.ecs.TaskDefinition; ready: pulumi.Resource[] } {
  const { config, logGroup } = args;
  const { accountId, region } = config;
  const trust = trustPolicy({ service: "ecs-tasks.amazonaws.com", accountId });
  const executionRole = new aws.iam.Role(
    `${name}-execution`,
    { assumeRolePolicy: JSON.stringify(trust) },
    options,
  );
  const allowed = pulumi
    .all([logGroup.arn, args.storageKeyArn, pulumi.all(args.secretArns)])
    .apply(([logGroupArn, storageKeyArn, secretArns]) =>
      executionRolePolicy({
        repositoryArn: repositoryOf(config.image).arn,
        logGroupArn,
        secretArns,
        storageKeyArn,
        region,
      }),
    );
  const permissions = new aws.iam.RolePolicy(
    `${name}-execution`,
    { role: executionRole.id, policy: pulumi.jsonStringify(allowed) },
    options,
  );
  const definition = new aws.ecs.TaskDefinition(
    name,
    {
      family: args.family,
      requiresCompatibilities: ["FARGATE"],
      networkMode: "awsvpc",
      runtimePlatform: { operatingSystemFamily: "LINUX", cpuArchitecture: "ARM64" },
      cpu: String(args.cpu),
      memory: String(args.memory),
      executionRoleArn: executionRole.arn,
      taskRoleArn: args.taskRoleArn,
      volumes: [{ name: "data" }],
      containerDefinitions: pulumi.jsonStringify(args.containers),
      // A failed deployment rolls back to an earlier revision, so Pulumi keeps old revisions.
      skipDestroy: true,
    },
    options,
  );
  return { definition, ready: [permissions] };
}

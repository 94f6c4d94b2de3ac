import aws from "@pulumi/aws";
import type * as pulumi from "@pulumi/pulumi";
import type { StackConfig } from "./stack-config.ts";

type LogGroupArgs = { name: string; config: StackConfig; storageKeyArn: pulumi.Input<string> };

export function logGroup(
  resourceName: string,
  { name, config, storageKeyArn }: LogGroupArgs,
  options: pulumi.CustomResourceOptions,
): aws.cloudwatch.LogGroup {
  const args = { name, retentionInDays: config.logDays, kmsKeyId: storageKeyArn };
  return new aws.cloudwatch.LogGroup(resourceName, args, options);
}

import aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { Names } from "./names.ts";
import { accessLogsPolicy } from "./policies.ts";
import type { StackConfig } from "./stack-config.ts";

type AccessLogsBucketArgs = { config: StackConfig; names: Names };

/** The load balancer's access logs contain client addresses and URLs, but no bodies. */
export function accessLogsBucket(
  { config, names }: AccessLogsBucketArgs,
  options: pulumi.CustomResourceOptions,
): { bucket: pulumi.Output<string>; ready: pulumi.Resource[] } {
  const logs = new aws.s3.Bucket(
    "access-logs",
    { bucketPrefix: `${names.prefix}-access-logs-`, forceDestroy: !config.isProduction },
    options,
  );
  const bucket = logs.id;
  const closed = new aws.s3.BucketPublicAccessBlock(
    "access-logs",
    {
      bucket,
      blockPublicAcls: true,
      blockPublicPolicy: true,
      ignorePublicAcls: true,
      restrictPublicBuckets: true,
    },
    options,
  );
  // A load balancer cannot write to a bucket with a customer-managed key.
  const byDefault = { applyServerSideEncryptionByDefault: { sseAlgorithm: "AES256" } };
  new aws.s3.BucketServerSideEncryptionConfiguration("access-logs", { bucket, rules: [byDefault] }, options);
  const expiry = { id: "expire", status: "Enabled", filter: {}, expiration: { days: config.logDays } };
  new aws.s3.BucketLifecycleConfiguration("access-logs", { bucket, rules: [expiry] }, options);
  const allowed = logs.arn.apply((bucketArn) => accessLogsPolicy({ bucketArn, accountId: config.accountId }));
  const policy = new aws.s3.BucketPolicy(
    "access-logs",
    { bucket, policy: pulumi.jsonStringify(allowed) },
    { ...options, dependsOn: [closed] },
  );
  return { bucket, ready: [policy] };
}

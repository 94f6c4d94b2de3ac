export type Policy = { Version: "2012-10-17"; Statement: Statement[] };

export type Statement = {
  Sid?: string;
  Effect: "Allow" | "Deny";
  Principal?: "*" | { AWS?: string | string[]; Service?: string };
  Action: string | string[];
  /** Missing in a trust policy, whose resource is the role itself. */
  Resource?: string | string[];
  Condition?: Record<string, Record<string, string | string[]>>;
};

export function trustPolicy({ service, accountId }: { service: string; accountId: string }): Policy {
  return policy({
    Effect: "Allow",
    Principal: { Service: service },
    Action: "sts:AssumeRole",
    Condition: { StringEquals: { "aws:SourceAccount": accountId } },
  });
}

export function executionRolePolicy(allowed: {
  repositoryArn: string | null;
  logGroupArn: string;
  secretArns: string[];
  storageKeyArn: string;
  region: string;
}): Policy {
  const pull: Statement[] = [
    { Sid: "LogInToRegistry", Effect: "Allow", Action: "ecr:GetAuthorizationToken", Resource: "*" },
    {
      Sid: "PullImage",
      Effect: "Allow",
      Action: ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"],
      Resource: allowed.repositoryArn ?? [],
    },
  ];
  return policy(
    ...(allowed.repositoryArn === null ? [] : pull),
    {
      Sid: "WriteLogs",
      Effect: "Allow",
      Action: ["logs:CreateLogStream", "logs:PutLogEvents"],
      Resource: `${allowed.logGroupArn}:*`,
    },
    {
      Sid: "ReadSecrets",
      Effect: "Allow",
      Action: "secretsmanager:GetSecretValue",
      Resource: allowed.secretArns,
    },
    {
      Sid: "OpenSecrets",
      Effect: "Allow",
      Action: "kms:Decrypt",
      Resource: allowed.storageKeyArn,
      Condition: { StringEquals: { "kms:ViaService": `secretsmanager.${allowed.region}.amazonaws.com` } },
    },
  );
}

export function databaseLoginPolicy(allowed: {
  region: string;
  accountId: string;
  databaseResourceId: string;
  user: string;
}): Policy {
  const { region, accountId, databaseResourceId, user } = allowed;
  return policy({
    Sid: "LogInToDatabase",
    Effect: "Allow",
    Action: "rds-db:connect",
    Resource: `arn:aws:rds-db:${region}:${accountId}:dbuser:${databaseResourceId}/${user}`,
  });
}

export function flowLogPolicy(logGroupArn: string): Policy {
  return policy({
    Sid: "WriteFlowLogs",
    Effect: "Allow",
    Action: ["logs:CreateLogStream", "logs:PutLogEvents", "logs:DescribeLogStreams"],
    Resource: [logGroupArn, `${logGroupArn}:*`],
  });
}

export function accessLogsPolicy({ bucketArn, accountId }: { bucketArn: string; accountId: string }): Policy {
  return policy(
    {
      Sid: "LoadBalancerWrites",
      Effect: "Allow",
      Principal: { Service: "logdelivery.elasticloadbalancing.amazonaws.com" },
      Action: "s3:PutObject",
      Resource: `${bucketArn}/AWSLogs/${accountId}/*`,
      Condition: { StringEquals: { "aws:SourceAccount": accountId } },
    },
    {
      Sid: "OnlyOverTls",
      Effect: "Deny",
      Principal: "*",
      Action: "s3:*",
      Resource: [bucketArn, `${bucketArn}/*`],
      Condition: { Bool: { "aws:SecureTransport": "false" } },
    },
  );
}

export function alarmTopicPolicy({ topicArn, accountId }: { topicArn: string; accountId: string }): Policy {
  const publish = (service: string): Statement => ({
    Effect: "Allow",
    Principal: { Service: service },
    Action: "sns:Publish",
    Resource: topicArn,
  });
  const ownAccount = { StringEquals: { "aws:SourceAccount": accountId } };
  return policy(
    { Sid: "Alarms", ...publish("cloudwatch.amazonaws.com"), Condition: ownAccount },
    // EventBridge sends no source account, so this statement has no condition.
    { Sid: "Events", ...publish("events.amazonaws.com") },
  );
}

export function policy(...statements: Statement[]): Policy {
  return { Version: "2012-10-17", Statement: statements };
}

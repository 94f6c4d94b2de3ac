import { type Policy, policy, type Statement } from "./policies.ts";

/**
 * The policy of the KMS key for provider keys. Only the task's role can decrypt, and only with the gateway's
 * encryption context. The account administers the key, but no IAM policy can grant decryption.
 */
export function providerKeyPolicy(allowed: {
  accountId: string;
  taskRoleArn: string;
  encryptionContext: Record<string, string>;
}): Policy {
  const context = Object.entries(allowed.encryptionContext).map(([name, value]) => [
    `kms:EncryptionContext:${name}`,
    value,
  ]);
  return policy(
    administration(allowed.accountId),
    {
      Sid: "SealAndOpen",
      Effect: "Allow",
      Principal: { AWS: allowed.taskRoleArn },
      Action: ["kms:Decrypt", "kms:GenerateDataKey"],
      Resource: "*",
      Condition: { StringEquals: Object.fromEntries(context) },
    },
    // Describing a key has no encryption context, so the condition above would always fail.
    {
      Sid: "Describe",
      Effect: "Allow",
      Principal: { AWS: allowed.taskRoleArn },
      Action: "kms:DescribeKey",
      Resource: "*",
    },
  );
}

/**
 * The policy of the KMS key for the database, secrets, logs and alarms. The account
 * can encrypt and decrypt with the key only through AWS services.
 */
export function storageKeyPolicy(allowed: {
  accountId: string;
  region: string;
  logGroupNames: string[];
}): Policy {
  const { accountId, region } = allowed;
  const viaService = [`rds.${region}.amazonaws.com`, `secretsmanager.${region}.amazonaws.com`];
  return policy(
    administration(accountId),
    {
      Sid: "ThroughServices",
      Effect: "Allow",
      Principal: { AWS: root(accountId) },
      Action: use,
      Resource: "*",
      Condition: { StringEquals: { "kms:ViaService": viaService } },
    },
    {
      Sid: "GrantsOfServices",
      Effect: "Allow",
      Principal: { AWS: root(accountId) },
      Action: "kms:CreateGrant",
      Resource: "*",
      Condition: {
        StringEquals: { "kms:ViaService": viaService },
        Bool: { "kms:GrantIsForAWSResource": "true" },
      },
    },
    {
      Sid: "Logs",
      Effect: "Allow",
      Principal: { Service: `logs.${region}.amazonaws.com` },
      Action: use,
      Resource: "*",
      Condition: {
        ArnEquals: {
          "kms:EncryptionContext:aws:logs:arn": allowed.logGroupNames.map(
            (name) => `arn:aws:logs:${region}:${accountId}:log-group:${name}`,
          ),
        },
      },
    },
    {
      ...alarmsBy("cloudwatch.amazonaws.com", "Alarms"),
      Condition: { StringEquals: { "aws:SourceAccount": accountId } },
    },
    // EventBridge sends no source account, so its statement has no condition.
    alarmsBy("events.amazonaws.com", "Events"),
  );
}

const use = [
  "kms:Encrypt",
  "kms:Decrypt",
  "kms:ReEncryptFrom",
  "kms:ReEncryptTo",
  "kms:GenerateDataKey",
  "kms:GenerateDataKeyWithoutPlaintext",
  "kms:DescribeKey",
];

/**
 * Allows a service to publish to the encrypted alarm topic.
 * https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html
 */
function alarmsBy(service: string, sid: string): Statement {
  return {
    Sid: sid,
    Effect: "Allow",
    Principal: { Service: service },
    Action: ["kms:Decrypt", "kms:GenerateDataKey"],
    Resource: "*",
  };
}

function administration(accountId: string): Statement {
  return {
    Sid: "Administer",
    Effect: "Allow",
    Principal: { AWS: root(accountId) },
    Action: administrationActions,
    Resource: "*",
  };
}

function root(accountId: string): string {
  return `arn:aws:iam::${accountId}:root`;
}

/**
 * Lists the actions, because `kms:*` includes Decrypt, and `kms:Create*` includes CreateGrant, which can
 * grant Decrypt.
 */
const administrationActions = [
  "kms:CancelKeyDeletion",
  "kms:DescribeKey",
  "kms:DisableKey",
  "kms:DisableKeyRotation",
  "kms:EnableKey",
  "kms:EnableKeyRotation",
  "kms:GetKeyPolicy",
  "kms:GetKeyRotationStatus",
  "kms:ListGrants",
  "kms:ListKeyPolicies",
  "kms:ListKeyRotations",
  "kms:ListResourceTags",
  "kms:PutKeyPolicy",
  "kms:RevokeGrant",
  "kms:RotateKeyOnDemand",
  "kms:ScheduleKeyDeletion",
  "kms:TagResource",
  "kms:UntagResource",
  "kms:UpdateKeyDescription",
  "kms:CreateAlias",
  "kms:UpdateAlias",
  "kms:DeleteAlias",
];

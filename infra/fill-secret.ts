import { randomBytes } from "node:crypto";
import {
  DescribeSecretCommand,
  PutSecretValueCommand,
  type SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";

/** Gives an empty secret a random value. A secret with a value is neither changed nor read. */
export async function fillSecret(client: SecretsManagerClient, secretArn: string): Promise<void> {
  const { VersionIdsToStages } = await client.send(new DescribeSecretCommand({ SecretId: secretArn }));
  const stages = Object.values(VersionIdsToStages ?? {}).flat();
  if (stages.includes("AWSCURRENT")) return;
  // Base64url contains no comma, which separates signing secrets.
  const value = randomBytes(secretBytes).toString("base64url");
  await client.send(new PutSecretValueCommand({ SecretId: secretArn, SecretString: value }));
}

const secretBytes = 48;

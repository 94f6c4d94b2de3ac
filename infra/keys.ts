import aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { providerKeyPolicy, storageKeyPolicy } from "./key-policies.ts";
import type { Names } from "./names.ts";
import { trustPolicy } from "./policies.ts";
import type { StackConfig } from "./stack-config.ts";

type KeysArgs = { config: StackConfig; names: Names; encryptionContext: Record<string, string> };

/**
 * Only `taskRole` may open provider keys. Secrets are created empty, so that Pulumi's state contains no value.
 * `prepare-release.ts` fills them.
 */
export class Keys extends pulumi.ComponentResource {
  readonly taskRole: aws.iam.Role;
  readonly providerKeyArn: pulumi.Output<string>;
  readonly storageKeyArn: pulumi.Output<string>;
  readonly signingSecretArn: pulumi.Output<string>;
  readonly adminPasswordArn: pulumi.Output<string>;

  constructor(
    name: string,
    { config, names, encryptionContext }: KeysArgs,
    options: pulumi.ComponentResourceOptions,
  ) {
    super("gateway:infra:Keys", name, {}, options);
    const parent = { parent: this };
    const { accountId, region, isProduction } = config;

    const trust = trustPolicy({ service: "ecs-tasks.amazonaws.com", accountId });
    this.taskRole = new aws.iam.Role("task", { assumeRolePolicy: JSON.stringify(trust) }, parent);

    const key = (part: string, description: string, policy: pulumi.Input<string>) => {
      const args = { description, policy, enableKeyRotation: true, deletionWindowInDays: 30 };
      // Without the key, all data encrypted with it is lost, so Pulumi protects the key in production.
      const made = new aws.kms.Key(part, args, { ...parent, protect: isProduction });
      const alias = { name: `alias/${names.prefix}-${part}`, targetKeyId: made.keyId };
      new aws.kms.Alias(part, alias, parent);
      return made.arn;
    };
    const sealing = this.taskRole.arn.apply((taskRoleArn) =>
      providerKeyPolicy({ accountId, taskRoleArn, encryptionContext }),
    );
    this.providerKeyArn = key(
      "provider-keys",
      "Model Gateway: seals providers' keys",
      pulumi.jsonStringify(sealing),
    );
    const storing = storageKeyPolicy({ accountId, region, logGroupNames: Object.values(names.logs) });
    this.storageKeyArn = key(
      "storage",
      "Model Gateway: database, secrets, logs, alarms",
      JSON.stringify(storing),
    );

    const secret = (part: string, description: string) => {
      const recoveryWindowInDays = isProduction ? 30 : 0;
      const args = { description, kmsKeyId: this.storageKeyArn, recoveryWindowInDays };
      return new aws.secretsmanager.Secret(part, args, { ...parent, protect: isProduction }).arn;
    };
    this.signingSecretArn = secret("signing", "Model Gateway: keys that sign access tokens, newest first");
    this.adminPasswordArn = secret("admin-password", "Model Gateway: the first administrator's password");
    this.registerOutputs({});
  }
}

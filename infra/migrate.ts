import aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { databaseUsersContainer, migrateContainer } from "./containers.ts";
import type { Data } from "./data.ts";
import { migrateEnvironment, migrateUser } from "./gateway-environment.ts";
import { logGroup } from "./log-group.ts";
import type { Names } from "./names.ts";
import { databaseLoginPolicy, trustPolicy } from "./policies.ts";
import type { StackConfig } from "./stack-config.ts";
import { task } from "./task.ts";

type MigrateArgs = {
  config: StackConfig;
  names: Names;
  data: Data;
  storageKeyArn: pulumi.Input<string>;
};

/** The task that migrates the schema, as a database user of its own. `prepare-release.ts` runs it. */
export class Migrate extends pulumi.ComponentResource {
  readonly definition: aws.ecs.TaskDefinition;
  /** The task needs these resources to start and to sign in. */
  readonly ready: pulumi.Resource[];

  constructor(name: string, args: MigrateArgs, options: pulumi.ComponentResourceOptions) {
    super("gateway:infra:Migrate", name, {}, options);
    const { config, names, data, storageKeyArn } = args;
    const { accountId, region, image } = config;
    const parent = { parent: this };

    const trust = trustPolicy({ service: "ecs-tasks.amazonaws.com", accountId });
    const role = new aws.iam.Role("migrate", { assumeRolePolicy: JSON.stringify(trust) }, parent);
    const login = data.instance.resourceId.apply((databaseResourceId) =>
      databaseLoginPolicy({ region, accountId, databaseResourceId, user: migrateUser }),
    );
    const permission = new aws.iam.RolePolicy(
      "migrate-database",
      { role: role.id, policy: pulumi.jsonStringify(login) },
      parent,
    );
    const logs = logGroup("migrate", { name: names.logs.migrate, config, storageKeyArn }, parent);
    const containers = pulumi
      .all([data.instance.address, data.masterSecretArn])
      .apply(([databaseHost, masterSecretArn]) => {
        const every = { image, region, logGroup: names.logs.migrate };
        return [
          databaseUsersContainer({
            ...every,
            environment: { DATABASE_HOST: databaseHost },
            secrets: { OWNER_PASSWORD: `${masterSecretArn}:password::` },
          }),
          migrateContainer({ ...every, environment: migrateEnvironment({ databaseHost }) }),
        ];
      });
    const { definition, ready } = task(
      "migrate",
      {
        config,
        family: `${names.prefix}-migrate`,
        cpu: 256,
        memory: 512,
        containers,
        taskRoleArn: role.arn,
        logGroup: logs,
        secretArns: [data.masterSecretArn],
        storageKeyArn,
      },
      parent,
    );
    this.definition = definition;
    this.ready = [definition, permission, ...ready];
    this.registerOutputs({});
  }
}

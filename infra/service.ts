import aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { loggedErrorsMetric } from "./alarm-definitions.ts";
import { gatewayContainer } from "./containers.ts";
import type { Edge } from "./edge.ts";
import { gatewayEnvironment, type GatewayVariables } from "./gateway-environment.ts";
import type { Keys } from "./keys.ts";
import { logGroup } from "./log-group.ts";
import type { Names } from "./names.ts";
import { databaseLoginPolicy } from "./policies.ts";
import { gatewayPort } from "./ports.ts";
import { serviceScaling } from "./service-scaling.ts";
import type { StackConfig } from "./stack-config.ts";
import { task } from "./task.ts";

type ServiceArgs = {
  config: StackConfig;
  names: Names;
  clusterArn: pulumi.Input<string>;
  encryptionContext: Record<string, string>;
  edge: Edge;
  keys: Keys;
  database: aws.rds.Instance;
  databaseUser: string;
  subnetIds: pulumi.Input<string>[];
  firewallId: pulumi.Input<string>;
  /** Alarms that roll back a deployment. */
  alarmNames: pulumi.Input<string>[];
  prepareRelease: pulumi.ResourceHook;
  dependsOn: pulumi.Input<pulumi.Resource>[];
};

export class Service extends pulumi.ComponentResource {
  readonly name: pulumi.Output<string>;

  constructor(name: string, args: ServiceArgs, options: pulumi.ComponentResourceOptions) {
    super("gateway:infra:Service", name, {}, options);
    const { config, names, edge, keys, database } = args;
    const parent = { parent: this };
    const { storageKeyArn } = keys;

    const logs = logGroup("service", { name: names.logs.service, config, storageKeyArn }, parent);
    new aws.cloudwatch.LogMetricFilter(
      "logged-errors",
      {
        logGroupName: logs.name,
        pattern: '{ $.level = "error" }',
        metricTransformation: { namespace: names.metricNamespace, name: loggedErrorsMetric, value: "1" },
      },
      parent,
    );
    const login = database.resourceId.apply((databaseResourceId) =>
      databaseLoginPolicy({ ...config, databaseResourceId, user: args.databaseUser }),
    );
    const permission = new aws.iam.RolePolicy(
      "task-database",
      { role: keys.taskRole.id, policy: pulumi.jsonStringify(login) },
      parent,
    );

    const { definition, ready } = task(
      "service",
      {
        config,
        family: `${names.prefix}-service`,
        cpu: config.cpu,
        memory: config.memory,
        containers: this.#containers(args),
        taskRoleArn: keys.taskRole.arn,
        logGroup: logs,
        secretArns: [keys.signingSecretArn, keys.adminPasswordArn],
        storageKeyArn,
      },
      parent,
    );
    const service = new aws.ecs.Service(
      "service",
      {
        name: names.service,
        cluster: args.clusterArn,
        taskDefinition: definition.arn,
        launchType: "FARGATE",
        desiredCount: config.tasksMin,
        networkConfiguration: {
          subnets: args.subnetIds,
          securityGroups: [args.firewallId],
          assignPublicIp: false,
        },
        loadBalancers: [
          { targetGroupArn: edge.targetGroup.arn, containerName: "gateway", containerPort: gatewayPort },
        ],
        deploymentMinimumHealthyPercent: 100,
        deploymentMaximumPercent: 200,
        deploymentCircuitBreaker: { enable: true, rollback: true },
        alarms: { enable: true, rollback: true, alarmNames: args.alarmNames },
        availabilityZoneRebalancing: "ENABLED",
        healthCheckGracePeriodSeconds: 60,
        // Shells in tasks need a writable file system and would weaken the isolation.
        enableExecuteCommand: false,
        enableEcsManagedTags: true,
        propagateTags: "SERVICE",
        waitForSteadyState: true,
        sigintRollback: true,
      },
      {
        ...parent,
        dependsOn: [...args.dependsOn, permission, ...ready, edge.listener],
        // Autoscaling changes the count.
        ignoreChanges: ["desiredCount"],
        hooks: { beforeCreate: [args.prepareRelease], beforeUpdate: [args.prepareRelease] },
        // The service becomes stable only after the last stream of the old tasks ends.
        customTimeouts: { create: "30m", update: "90m", delete: "90m" },
      },
    );
    serviceScaling({ config, names, edge, service }, parent);
    this.name = service.name;
    this.registerOutputs({ name: this.name });
  }

  #containers({ config, names, edge, keys, database, encryptionContext }: ServiceArgs) {
    const { region } = config;
    const logs = { region, logGroup: names.logs.service };
    return pulumi
      .all([edge.url, database.address, keys.providerKeyArn, keys.signingSecretArn, keys.adminPasswordArn])
      .apply(([publicUrl, databaseHost, providerKeyArn, signingSecretArn, adminPasswordArn]) => {
        const environment = gatewayEnvironment({
          config,
          publicUrl,
          databaseHost,
          providerKeyArn,
          encryptionContext,
        });
        const secrets = {
          JWT_SECRET: signingSecretArn,
          ADMIN_PASSWORD: adminPasswordArn,
        } satisfies GatewayVariables;
        return [gatewayContainer({ ...logs, image: config.image, environment, secrets })];
      });
  }
}

import aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { databaseParameters } from "./database-parameters.ts";
import { logGroup } from "./log-group.ts";
import type { Names } from "./names.ts";
import { databasePort } from "./ports.ts";
import { hasPerformanceInsights } from "./sizes.ts";
import type { StackConfig } from "./stack-config.ts";

type DataArgs = {
  config: StackConfig;
  names: Names;
  subnetIds: pulumi.Input<string>[];
  firewallId: pulumi.Input<string>;
  storageKeyArn: pulumi.Input<string>;
};

export class Data extends pulumi.ComponentResource {
  readonly instance: aws.rds.Instance;
  /** RDS creates and rotates the database owner's password. Only the migration task reads it. */
  readonly masterSecretArn: pulumi.Output<string>;

  constructor(name: string, args: DataArgs, options: pulumi.ComponentResourceOptions) {
    super("gateway:infra:Data", name, {}, options);
    const { config, names, subnetIds, firewallId, storageKeyArn } = args;
    const { isProduction, backupDays, databaseClass } = config;
    const parent = { parent: this };

    const subnets = new aws.rds.SubnetGroup("database", { subnetIds }, parent);
    const parameters = new aws.rds.ParameterGroup(
      "database",
      { family: "mysql8.4", parameters: databaseParameters },
      // RDS must use another parameter group before this one is deleted.
      { ...parent, deleteBeforeReplace: false },
    );
    // RDS would create the log groups without a retention period and without the storage key.
    const logs = { "database-error": names.logs.databaseError, "database-slow": names.logs.databaseSlow };
    const logGroups = Object.entries(logs).map(([part, group]) =>
      logGroup(part, { name: group, config, storageKeyArn }, parent),
    );

    this.instance = new aws.rds.Instance(
      "database",
      {
        identifier: names.database,
        engine: "mysql",
        engineVersion: "8.4",
        instanceClass: databaseClass,
        dbName: "gateway",
        port: databasePort,
        username: "gateway_owner",
        manageMasterUserPassword: true,
        masterUserSecretKmsKeyId: storageKeyArn,
        iamDatabaseAuthenticationEnabled: true,
        caCertIdentifier: "rds-ca-rsa2048-g1",
        storageType: "gp3",
        allocatedStorage: config.databaseStorageGib,
        maxAllocatedStorage: config.databaseStorageGibMax,
        storageEncrypted: true,
        kmsKeyId: storageKeyArn,
        multiAz: config.databaseMultiAz,
        dbSubnetGroupName: subnets.name,
        vpcSecurityGroupIds: [firewallId],
        // The value is fixed, so that no stack exposes the database.
        publiclyAccessible: false,
        parameterGroupName: parameters.name,
        backupRetentionPeriod: backupDays,
        copyTagsToSnapshot: true,
        deleteAutomatedBackups: !isProduction,
        deletionProtection: isProduction,
        skipFinalSnapshot: !isProduction,
        ...(isProduction && { finalSnapshotIdentifier: `${names.prefix}-final` }),
        enabledCloudwatchLogsExports: ["error", "slowquery"],
        ...(hasPerformanceInsights(databaseClass) && {
          performanceInsightsEnabled: true,
          performanceInsightsKmsKeyId: storageKeyArn,
        }),
        autoMinorVersionUpgrade: true,
        applyImmediately: false,
      },
      {
        ...parent,
        protect: isProduction,
        dependsOn: logGroups,
        customTimeouts: { create: "60m", update: "80m", delete: "60m" },
      },
    );
    this.masterSecretArn = this.instance.masterUserSecrets.apply(([secret]) => secret?.secretArn ?? "");
    this.registerOutputs({});
  }
}

import aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { Data } from "./data.ts";
import { Edge } from "./edge.ts";
import { Endpoints } from "./endpoints.ts";
import { Firewalls } from "./firewalls.ts";
import { appUser } from "./gateway-environment.ts";
import { Keys } from "./keys.ts";
import { Migrate } from "./migrate.ts";
import { namesOf, repositoryOf } from "./names.ts";
import { Network } from "./network.ts";
import { Observability } from "./observability.ts";
import { prepareRelease } from "./prepare-release.ts";
import { Service } from "./service.ts";
import { readStackConfig } from "./stack-config.ts";

const project = pulumi.getProject();
const stack = pulumi.getStack();
const config = readStackConfig(pulumi.runtime.allConfig(), project, stack);
const names = namesOf(project, stack);
const { region, accountId } = config;

// All resources use this provider, so that the shell's AWS settings determine neither region nor account.
const provider = new aws.Provider("aws", {
  region,
  allowedAccountIds: [accountId],
  defaultTags: { tags: { project, stack, "managed-by": "pulumi" } },
});
const options = { providers: { aws: provider } };

const encryptionContext = { app: "gateway", stack };
const keys = new Keys("keys", { config, names, encryptionContext }, options);
const { providerKeyArn, storageKeyArn } = keys;
const network = new Network("network", { config, names, storageKeyArn }, options);
const firewalls = new Firewalls("firewalls", { vpcId: network.vpcId, names }, options);
const endpoints = new Endpoints("endpoints", { config, names, network, firewalls }, options);
const data = new Data(
  "data",
  { config, names, subnetIds: network.dataSubnetIds, firewallId: firewalls.databaseId, storageKeyArn },
  options,
);
const edge = new Edge(
  "edge",
  { config, names, vpcId: network.vpcId, subnetIds: network.publicSubnetIds, firewallId: firewalls.edgeId },
  options,
);
const cluster = new aws.ecs.Cluster(
  "cluster",
  { name: names.cluster, settings: [{ name: "containerInsights", value: "enabled" }] },
  { provider },
);
const observability = new Observability(
  "observability",
  {
    config,
    names,
    edge,
    storageKeyArn,
    providerKeyArn,
    clusterName: cluster.name,
    databaseName: data.instance.identifier,
  },
  options,
);
const migrate = new Migrate("migrate", { config, names, data, storageKeyArn }, options);
const service = new Service(
  "service",
  {
    config,
    names,
    encryptionContext,
    edge,
    keys,
    clusterArn: cluster.arn,
    database: data.instance,
    databaseUser: appUser,
    subnetIds: network.appSubnetIds,
    firewallId: firewalls.appId,
    alarmNames: observability.releaseAlarmNames,
    prepareRelease: prepareRelease({
      region,
      secretArns: [keys.signingSecretArn, keys.adminPasswordArn],
      migration: pulumi.output({
        cluster: cluster.arn,
        taskDefinition: migrate.definition.arn,
        subnets: network.appSubnetIds,
        securityGroup: firewalls.migrateId,
        logGroup: names.logs.migrate,
      }),
    }),
    dependsOn: [...network.routes, ...firewalls.rules, ...endpoints.ready, data.instance, ...migrate.ready],
  },
  options,
);

export const url = edge.url;
export const albDnsName = edge.loadBalancer.dnsName;
export const repositoryUrl = repositoryOf(config.image).url;
export const clusterName = cluster.name;
export const serviceName = service.name;
export const migrateTaskDefinitionArn = migrate.definition.arn;
export const dbEndpoint = data.instance.endpoint;
export const kmsKeyArn = keys.providerKeyArn;
export const dashboardUrl = observability.dashboardUrl;
export const adminPasswordArn = keys.adminPasswordArn;

import aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { Names } from "./names.ts";
import { databasePort, gatewayPort } from "./ports.ts";

type FirewallsArgs = { vpcId: pulumi.Input<string>; names: Names };

/** Rules are separate resources, so that the security groups can refer to one another. */
export class Firewalls extends pulumi.ComponentResource {
  readonly edgeId: pulumi.Output<string>;
  readonly appId: pulumi.Output<string>;
  readonly migrateId: pulumi.Output<string>;
  readonly databaseId: pulumi.Output<string>;
  /** Other resources depend on the rules, because a security group without its rules blocks everything. */
  readonly rules: pulumi.Resource[] = [];
  readonly #names: Names;
  readonly #vpcId: pulumi.Input<string>;

  constructor(name: string, { vpcId, names }: FirewallsArgs, options: pulumi.ComponentResourceOptions) {
    super("gateway:infra:Firewalls", name, {}, options);
    this.#names = names;
    this.#vpcId = vpcId;
    const edge = this.#group("edge", "The load balancer");
    const app = this.#group("app", "The gateway's tasks");
    const migrate = this.#group("migrate", "The task that migrates the database");
    const database = this.#group("database", "The database");
    const anyone = { cidrIpv4: "0.0.0.0/0" };

    for (const port of [80, 443]) this.#allowIn(`edge-${port}`, edge, port, anyone);
    this.#allowBetween("edge-app", edge, app, gatewayPort);
    this.#allowBetween("app-database", app, database, databasePort);
    this.#allowBetween("migrate-database", migrate, database, databasePort);
    // Both tasks need HTTPS access to the registry, logs and secrets. The gateway also calls providers and KMS.
    this.#allowOut("app-internet", app, 443, anyone);
    this.#allowOut("migrate-internet", migrate, 443, anyone);

    this.edgeId = edge.id;
    this.appId = app.id;
    this.migrateId = migrate.id;
    this.databaseId = database.id;
    this.registerOutputs({});
  }

  #group(part: string, description: string): aws.ec2.SecurityGroup {
    const args = { vpcId: this.#vpcId, description, tags: { Name: `${this.#names.prefix}-${part}` } };
    return new aws.ec2.SecurityGroup(part, args, { parent: this });
  }

  #allowBetween(rule: string, from: aws.ec2.SecurityGroup, to: aws.ec2.SecurityGroup, port: number): void {
    this.#allowOut(rule, from, port, { referencedSecurityGroupId: to.id });
    this.#allowIn(rule, to, port, { referencedSecurityGroupId: from.id });
  }

  #allowIn(rule: string, group: aws.ec2.SecurityGroup, port: number, from: Peer): void {
    const args = { securityGroupId: group.id, ipProtocol: "tcp", fromPort: port, toPort: port, ...from };
    this.rules.push(new aws.vpc.SecurityGroupIngressRule(rule, args, { parent: this }));
  }

  #allowOut(rule: string, group: aws.ec2.SecurityGroup, port: number, to: Peer): void {
    const args = { securityGroupId: group.id, ipProtocol: "tcp", fromPort: port, toPort: port, ...to };
    this.rules.push(new aws.vpc.SecurityGroupEgressRule(rule, args, { parent: this }));
  }
}

type Peer = { cidrIpv4: string } | { referencedSecurityGroupId: pulumi.Input<string> };

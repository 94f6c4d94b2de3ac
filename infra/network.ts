import aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { logGroup } from "./log-group.ts";
import type { Names } from "./names.ts";
import { flowLogPolicy, trustPolicy } from "./policies.ts";
import type { StackConfig } from "./stack-config.ts";
import { subnetBlocks } from "./subnet-blocks.ts";

type NetworkArgs = { config: StackConfig; names: Names; storageKeyArn: pulumi.Input<string> };

/**
 * A network with three subnets in each zone. `public` holds the load balancer and NAT, `app` the tasks, and
 * `data` the database. `data` has no route to the internet.
 */
export class Network extends pulumi.ComponentResource {
  readonly vpcId: pulumi.Output<string>;
  readonly publicSubnetIds: pulumi.Output<string>[];
  readonly appSubnetIds: pulumi.Output<string>[];
  readonly dataSubnetIds: pulumi.Output<string>[];
  readonly appRouteTableIds: pulumi.Output<string>[];
  /** Tasks depend on the routes, because they need the registry and the logs to start. */
  readonly routes: pulumi.Resource[];

  constructor(
    name: string,
    { config, names, storageKeyArn }: NetworkArgs,
    options: pulumi.ComponentResourceOptions,
  ) {
    super("gateway:infra:Network", name, {}, options);
    const parent = { parent: this };
    const tags = (part: string) => ({ Name: `${names.prefix}-${part}` });

    const vpc = new aws.ec2.Vpc(
      "vpc",
      { cidrBlock: config.cidr, enableDnsHostnames: true, enableDnsSupport: true, tags: tags("vpc") },
      parent,
    );
    // The default security group allows no connections, so a resource without another group is isolated.
    new aws.ec2.DefaultSecurityGroup("default", { vpcId: vpc.id, ingress: [], egress: [] }, parent);

    const zones = aws.getAvailabilityZonesOutput(
      { state: "available", filters: [{ name: "opt-in-status", values: ["opt-in-not-required"] }] },
      parent,
    ).names;
    const blocks = subnetBlocks(config.cidr, config.zones);
    const subnets = (kind: "public" | "app" | "data") =>
      blocks.map((block, index) => {
        const args = {
          vpcId: vpc.id,
          cidrBlock: block[kind],
          availabilityZone: zoneAt(zones, index),
          mapPublicIpOnLaunch: false,
          tags: tags(`${kind}-${index}`),
        };
        return new aws.ec2.Subnet(`${kind}-${index}`, args, parent);
      });
    const table = (part: string) => new aws.ec2.RouteTable(part, { vpcId: vpc.id, tags: tags(part) }, parent);
    const associate = (subnet: aws.ec2.Subnet, routeTable: aws.ec2.RouteTable, part: string) =>
      new aws.ec2.RouteTableAssociation(part, { subnetId: subnet.id, routeTableId: routeTable.id }, parent);
    const everywhere = { destinationCidrBlock: "0.0.0.0/0" };

    const internet = new aws.ec2.InternetGateway(
      "internet",
      { vpcId: vpc.id, tags: tags("internet") },
      parent,
    );
    const publicTable = table("public");
    const toInternet = new aws.ec2.Route(
      "public",
      { routeTableId: publicTable.id, gatewayId: internet.id, ...everywhere },
      parent,
    );
    const publicSubnets = subnets("public");
    publicSubnets.forEach((subnet, index) => associate(subnet, publicTable, `public-${index}`));

    // Tasks need internet access for providers. With one NAT gateway per zone, a zone's failure does not affect the other zones.
    const natGateways = publicSubnets.slice(0, config.natGateways).map((subnet, index) => {
      const address = new aws.ec2.Eip(`nat-${index}`, { domain: "vpc", tags: tags(`nat-${index}`) }, parent);
      const args = { subnetId: subnet.id, allocationId: address.allocationId, tags: tags(`nat-${index}`) };
      return new aws.ec2.NatGateway(`nat-${index}`, args, { ...parent, dependsOn: [toInternet] });
    });
    const appSubnets = subnets("app");
    const app = appSubnets.map((subnet, index) => {
      const routeTable = table(`app-${index}`);
      const association = associate(subnet, routeTable, `app-${index}`);
      const natGatewayId = natGateways[index % natGateways.length]?.id;
      return {
        routeTable,
        association,
        route: new aws.ec2.Route(
          `app-${index}`,
          { routeTableId: routeTable.id, ...(natGatewayId && { natGatewayId }), ...everywhere },
          parent,
        ),
      };
    });

    const dataTable = table("data");
    const dataSubnets = subnets("data");
    dataSubnets.forEach((subnet, index) => associate(subnet, dataTable, `data-${index}`));

    this.#recordRefusals(vpc, { config, names, storageKeyArn });

    this.vpcId = vpc.id;
    this.publicSubnetIds = publicSubnets.map(({ id }) => id);
    this.appSubnetIds = appSubnets.map(({ id }) => id);
    this.dataSubnetIds = dataSubnets.map(({ id }) => id);
    this.appRouteTableIds = app.map(({ routeTable }) => routeTable.id);
    this.routes = app.flatMap(({ association, route }) => [association, route]);
    this.registerOutputs({ vpcId: this.vpcId });
  }

  /** Logs rejected connections, to diagnose unreachable hosts. */
  #recordRefusals(vpc: aws.ec2.Vpc, { config, names, storageKeyArn }: NetworkArgs): void {
    const parent = { parent: this };
    const logs = logGroup("flow", { name: names.logs.flow, config, storageKeyArn }, parent);
    const trust = trustPolicy({ service: "vpc-flow-logs.amazonaws.com", accountId: config.accountId });
    const role = new aws.iam.Role("flow", { assumeRolePolicy: JSON.stringify(trust) }, parent);
    const write = { role: role.id, policy: pulumi.jsonStringify(logs.arn.apply(flowLogPolicy)) };
    new aws.iam.RolePolicy("flow", write, parent);
    new aws.ec2.FlowLog(
      "flow",
      { vpcId: vpc.id, trafficType: "REJECT", iamRoleArn: role.arn, logDestination: logs.arn },
      parent,
    );
  }
}

function zoneAt(zones: pulumi.Output<string[]>, index: number): pulumi.Output<string> {
  return zones.apply((names) => {
    const zone = names[index];
    if (zone === undefined)
      throw new pulumi.RunError(
        `The region has ${names.length} zones, fewer than gateway:zones. Lower gateway:zones.`,
      );
    return zone;
  });
}

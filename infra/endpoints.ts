import aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { Firewalls } from "./firewalls.ts";
import type { Names } from "./names.ts";
import type { Network } from "./network.ts";
import type { StackConfig } from "./stack-config.ts";

type EndpointsArgs = { config: StackConfig; names: Names; network: Network; firewalls: Firewalls };

/**
 * Endpoints that keep traffic to AWS off the NAT gateways. The endpoint for S3, which serves image layers, is
 * free. The endpoints of `privateEndpoints`, for keys, secrets, images and logs, are billed by the hour.
 */
export class Endpoints extends pulumi.ComponentResource {
  /** Tasks depend on the private endpoints, because AWS's host names resolve to them as soon as they exist. */
  readonly ready: pulumi.Resource[] = [];

  constructor(name: string, args: EndpointsArgs, options: pulumi.ComponentResourceOptions) {
    super("gateway:infra:Endpoints", name, {}, options);
    const { config, names, network, firewalls } = args;
    const { vpcId } = network;
    const parent = { parent: this };
    const serviceName = (service: string) => `com.amazonaws.${config.region}.${service}`;
    new aws.ec2.VpcEndpoint(
      "s3",
      {
        vpcId,
        vpcEndpointType: "Gateway",
        serviceName: serviceName("s3"),
        routeTableIds: network.appRouteTableIds,
        tags: { Name: `${names.prefix}-s3` },
      },
      parent,
    );
    if (config.privateEndpoints) {
      const group = new aws.ec2.SecurityGroup(
        "endpoints",
        { vpcId, description: "VPC endpoints for AWS services", tags: { Name: `${names.prefix}-endpoints` } },
        parent,
      );
      const https = { securityGroupId: group.id, ipProtocol: "tcp", fromPort: 443, toPort: 443 };
      const callers = { app: firewalls.appId, migrate: firewalls.migrateId };
      for (const [caller, referencedSecurityGroupId] of Object.entries(callers)) {
        const rule = { ...https, referencedSecurityGroupId };
        this.ready.push(new aws.vpc.SecurityGroupIngressRule(`endpoints-${caller}`, rule, parent));
      }
      for (const service of ["kms", "secretsmanager", "ecr.api", "ecr.dkr", "logs"]) {
        const endpoint = new aws.ec2.VpcEndpoint(
          service.replace(".", "-"),
          {
            vpcId,
            vpcEndpointType: "Interface",
            serviceName: serviceName(service),
            subnetIds: network.appSubnetIds,
            securityGroupIds: [group.id],
            privateDnsEnabled: true,
            tags: { Name: `${names.prefix}-${service}` },
          },
          parent,
        );
        this.ready.push(endpoint);
      }
    }
    this.registerOutputs({});
  }
}

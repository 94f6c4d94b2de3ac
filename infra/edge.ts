import aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { accessLogsBucket } from "./access-logs-bucket.ts";
import { certificate } from "./certificate.ts";
import { webFirewall } from "./web-firewall.ts";
import type { Names } from "./names.ts";
import { gatewayPort } from "./ports.ts";
import type { StackConfig } from "./stack-config.ts";
import { edgeIdleSeconds } from "./timing.ts";

type EdgeArgs = {
  config: StackConfig;
  names: Names;
  vpcId: pulumi.Input<string>;
  subnetIds: pulumi.Input<string>[];
  firewallId: pulumi.Input<string>;
};

/** The load balancer, its access logs, its certificate and the optional web firewall. */
export class Edge extends pulumi.ComponentResource {
  readonly url: pulumi.Output<string>;
  readonly loadBalancer: aws.lb.LoadBalancer;
  readonly targetGroup: aws.lb.TargetGroup;
  /** The service can register tasks only after the listener exists. */
  readonly listener: aws.lb.Listener;

  constructor(name: string, args: EdgeArgs, options: pulumi.ComponentResourceOptions) {
    super("gateway:infra:Edge", name, {}, options);
    const { config, names, vpcId, subnetIds, firewallId } = args;
    const parent = { parent: this };

    const logs = accessLogsBucket({ config, names }, parent);
    this.loadBalancer = new aws.lb.LoadBalancer(
      "edge",
      {
        name: names.prefix,
        loadBalancerType: "application",
        subnets: subnetIds,
        securityGroups: [firewallId],
        idleTimeout: edgeIdleSeconds,
        clientKeepAlive: 3_600,
        enableHttp2: true,
        dropInvalidHeaderFields: true,
        desyncMitigationMode: "strictest",
        enableDeletionProtection: config.isProduction,
        accessLogs: { enabled: true, bucket: logs.bucket },
      },
      { ...parent, dependsOn: logs.ready },
    );
    this.targetGroup = new aws.lb.TargetGroup(
      "app",
      {
        vpcId,
        targetType: "ip",
        protocol: "HTTP",
        protocolVersion: "HTTP1",
        port: gatewayPort,
        // Streams differ in length, so equal request counts do not mean equal load.
        loadBalancingAlgorithmType: "least_outstanding_requests",
        // ECS sends SIGTERM after this delay, or earlier if no request is open.
        deregistrationDelay: config.streamSecondsMax,
        healthCheck: {
          path: "/readyz",
          matcher: "200",
          interval: 10,
          timeout: 5,
          healthyThreshold: 2,
          unhealthyThreshold: 3,
        },
      },
      parent,
    );

    const forward = [{ type: "forward", targetGroupArn: this.targetGroup.arn }];
    const listen = (part: string, args: Omit<aws.lb.ListenerArgs, "loadBalancerArn">) =>
      new aws.lb.Listener(part, { loadBalancerArn: this.loadBalancer.arn, ...args }, parent);
    const certificateArn = certificate({ config, loadBalancer: this.loadBalancer }, parent);
    if (certificateArn) {
      const redirect = { protocol: "HTTPS", port: "443", statusCode: "HTTP_301" };
      listen("http", { port: 80, protocol: "HTTP", defaultActions: [{ type: "redirect", redirect }] });
      const tls = { protocol: "HTTPS", sslPolicy: "ELBSecurityPolicy-TLS13-1-2-2021-06", certificateArn };
      this.listener = listen("https", { port: 443, ...tls, defaultActions: forward });
      this.url = pulumi.output(`https://${config.domainName}`);
    } else {
      this.listener = listen("http", { port: 80, protocol: "HTTP", defaultActions: forward });
      this.url = pulumi.interpolate`http://${this.loadBalancer.dnsName}`;
    }
    if (config.waf !== "off")
      webFirewall({ names, mode: config.waf, loadBalancerArn: this.loadBalancer.arn }, parent);
    this.registerOutputs({ url: this.url });
  }
}

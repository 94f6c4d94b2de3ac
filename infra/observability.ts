import aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { alarmDefinitions } from "./alarm-definitions.ts";
import { dashboard } from "./dashboard.ts";
import type { Edge } from "./edge.ts";
import type { Names } from "./names.ts";
import { alarmTopicPolicy } from "./policies.ts";
import type { StackConfig } from "./stack-config.ts";

type ObservabilityArgs = {
  config: StackConfig;
  names: Names;
  edge: Edge;
  clusterName: pulumi.Input<string>;
  databaseName: pulumi.Input<string>;
  storageKeyArn: pulumi.Input<string>;
  providerKeyArn: pulumi.Input<string>;
};

export class Observability extends pulumi.ComponentResource {
  readonly releaseAlarmNames: pulumi.Output<string>[];
  readonly dashboardUrl: pulumi.Output<string>;

  constructor(name: string, args: ObservabilityArgs, options: pulumi.ComponentResourceOptions) {
    super("gateway:infra:Observability", name, {}, options);
    const { config, names, edge } = args;
    const parent = { parent: this };

    const topic = new aws.sns.Topic("alarms", { kmsMasterKeyId: args.storageKeyArn }, parent);
    const allowed = topic.arn.apply((topicArn) =>
      alarmTopicPolicy({ topicArn, accountId: config.accountId }),
    );
    new aws.sns.TopicPolicy("alarms", { arn: topic.arn, policy: pulumi.jsonStringify(allowed) }, parent);
    if (config.alarmEmail !== undefined) {
      const subscription = { topic: topic.arn, protocol: "email", endpoint: config.alarmEmail };
      new aws.sns.TopicSubscription("alarms", subscription, parent);
    }

    const dimensions = {
      edge: { LoadBalancer: edge.loadBalancer.arnSuffix },
      targets: { LoadBalancer: edge.loadBalancer.arnSuffix, TargetGroup: edge.targetGroup.arnSuffix },
      service: { ClusterName: args.clusterName, ServiceName: names.service },
      database: { DBInstanceIdentifier: args.databaseName },
      logs: {},
    };
    const alarms = alarmDefinitions(config, names).map(({ part, of, isOfRelease, ...definition }) => {
      const alarm = new aws.cloudwatch.MetricAlarm(
        part,
        {
          name: `${names.prefix}-${part}`,
          dimensions: dimensions[of],
          alarmActions: [topic.arn],
          okActions: [topic.arn],
          treatMissingData: "notBreaching",
          ...definition,
        },
        parent,
      );
      return { alarm, isOfRelease };
    });
    this.releaseAlarmNames = alarms.filter(({ isOfRelease }) => isOfRelease).map(({ alarm }) => alarm.name);

    this.#watchKeys(args, topic);

    const body = pulumi
      .all([edge.loadBalancer.arnSuffix, edge.targetGroup.arnSuffix, args.clusterName, args.databaseName])
      .apply(([loadBalancer, targetGroup, cluster, database]) =>
        dashboard({ region: config.region, names, loadBalancer, targetGroup, cluster, database }),
      );
    const page = new aws.cloudwatch.Dashboard(
      "gateway",
      { dashboardName: names.prefix, dashboardBody: pulumi.jsonStringify(body) },
      parent,
    );
    const console = `https://${config.region}.console.aws.amazon.com/cloudwatch/home?region=${config.region}`;
    this.dashboardUrl = pulumi.interpolate`${console}#dashboards/dashboard/${page.dashboardName}`;
    this.registerOutputs({ dashboardUrl: this.dashboardUrl });
  }

  /** The rule needs a CloudTrail trail in the account. */
  #watchKeys({ storageKeyArn, providerKeyArn }: ObservabilityArgs, topic: aws.sns.Topic): void {
    const parent = { parent: this };
    const eventPattern = pulumi.jsonStringify({
      source: ["aws.kms"],
      "detail-type": ["AWS API Call via CloudTrail"],
      detail: {
        eventName: ["PutKeyPolicy", "DisableKey", "ScheduleKeyDeletion"],
        resources: { ARN: [providerKeyArn, storageKeyArn] },
      },
    });
    const rule = new aws.cloudwatch.EventRule("keys", { eventPattern }, parent);
    new aws.cloudwatch.EventTarget("keys", { rule: rule.name, arn: topic.arn }, parent);
  }
}

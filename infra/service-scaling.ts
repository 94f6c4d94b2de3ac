import aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { Edge } from "./edge.ts";
import type { Names } from "./names.ts";
import type { StackConfig } from "./stack-config.ts";

type ServiceScalingArgs = { config: StackConfig; names: Names; edge: Edge; service: aws.ecs.Service };

/** Scales in slowly, because tasks finish their streams before they stop. */
export function serviceScaling(
  { config, names, edge, service }: ServiceScalingArgs,
  options: pulumi.CustomResourceOptions,
): void {
  const target = new aws.appautoscaling.Target(
    "service",
    {
      serviceNamespace: "ecs",
      scalableDimension: "ecs:service:DesiredCount",
      resourceId: `service/${names.cluster}/${names.service}`,
      minCapacity: config.tasksMin,
      maxCapacity: config.tasksMax,
    },
    { ...options, dependsOn: [service] },
  );
  const { loadBalancer, targetGroup } = edge;
  const requests = {
    predefinedMetricType: "ALBRequestCountPerTarget",
    resourceLabel: pulumi.interpolate`${loadBalancer.arnSuffix}/${targetGroup.arnSuffix}`,
  };
  const measures = {
    cpu: {
      targetValue: 60,
      predefinedMetricSpecification: { predefinedMetricType: "ECSServiceAverageCPUUtilization" },
    },
    // Requests per minute. The target is far below a task's capacity, because one stream can last minutes.
    requests: { targetValue: 1_200, predefinedMetricSpecification: requests },
  };
  for (const [measure, configuration] of Object.entries(measures)) {
    new aws.appautoscaling.Policy(
      measure,
      {
        policyType: "TargetTrackingScaling",
        serviceNamespace: target.serviceNamespace,
        scalableDimension: target.scalableDimension,
        resourceId: target.resourceId,
        targetTrackingScalingPolicyConfiguration: {
          ...configuration,
          scaleInCooldown: 300,
          scaleOutCooldown: 60,
        },
      },
      options,
    );
  }
}

import { loggedErrorsMetric } from "./alarm-definitions.ts";
import type { Names } from "./names.ts";

type DashboardOptions = {
  region: string;
  names: Names;
  /** CloudWatch identifies the load balancer and its targets by the suffixes of their ARNs. */
  loadBalancer: string;
  targetGroup: string;
  cluster: string;
  database: string;
};

export function dashboard(options: DashboardOptions): object {
  const { region, names, loadBalancer, targetGroup, cluster, database } = options;
  const edge = ["LoadBalancer", loadBalancer];
  const targets = ["TargetGroup", targetGroup, ...edge];
  const service = ["ServiceName", names.service, "ClusterName", cluster];
  const server = ["DBInstanceIdentifier", database];
  const balancer = (metric: string, dimensions: string[]) => ["AWS/ApplicationELB", metric, ...dimensions];
  const graphs: [title: string, stat: string, metrics: string[][]][] = [
    ["Requests", "Sum", [balancer("RequestCount", edge)]],
    [
      "Errors",
      "Sum",
      [
        balancer("HTTPCode_Target_4XX_Count", targets),
        balancer("HTTPCode_Target_5XX_Count", targets),
        balancer("HTTPCode_ELB_5XX_Count", edge),
        [names.metricNamespace, loggedErrorsMetric],
      ],
    ],
    ["Time to first byte", "p95", [balancer("TargetResponseTime", targets)]],
    ["Open connections", "Sum", [balancer("ActiveConnectionCount", edge)]],
    [
      "Tasks",
      "Minimum",
      [
        ["ECS/ContainerInsights", "RunningTaskCount", ...service],
        ["ECS/ContainerInsights", "DesiredTaskCount", ...service],
        balancer("HealthyHostCount", targets),
      ],
    ],
    [
      "Task utilization",
      "Average",
      [
        ["AWS/ECS", "CPUUtilization", ...service],
        ["AWS/ECS", "MemoryUtilization", ...service],
      ],
    ],
    ["Database CPU", "Average", [["AWS/RDS", "CPUUtilization", ...server]]],
    ["Database connections", "Maximum", [["AWS/RDS", "DatabaseConnections", ...server]]],
  ];
  return {
    widgets: graphs.map(([title, stat, metrics], index) => ({
      type: "metric",
      x: (index % 2) * 12,
      y: Math.floor(index / 2) * 6,
      width: 12,
      height: 6,
      properties: { title, region, stat, metrics, period: 60, view: "timeSeries" },
    })),
  };
}

import type { Names } from "./names.ts";
import { workersOf } from "./sizes.ts";
import type { StackConfig } from "./stack-config.ts";

export type AlarmDefinition = {
  part: string;
  alarmDescription: string;
  /** The component that the metric's dimensions describe. */
  of: "edge" | "targets" | "service" | "database" | "logs";
  /** Whether ECS rolls back a release on this alarm. */
  isOfRelease: boolean;
  namespace: string;
  metricName: string;
  statistic: "Sum" | "Average" | "Minimum" | "Maximum";
  comparisonOperator: "GreaterThanThreshold" | "LessThanThreshold";
  threshold: number;
  period: number;
  evaluationPeriods: number;
  treatMissingData?: "breaching";
};

export function alarmDefinitions(config: StackConfig, names: Names): AlarmDefinition[] {
  const gibibyte = 1024 ** 3;
  const sum = { statistic: "Sum", comparisonOperator: "GreaterThanThreshold", period: 60 } as const;
  const high = { statistic: "Average", comparisonOperator: "GreaterThanThreshold", period: 300 } as const;
  const low = { statistic: "Minimum", comparisonOperator: "LessThanThreshold", period: 300 } as const;
  const balancer = { namespace: "AWS/ApplicationELB", isOfRelease: true } as const;
  const database = { namespace: "AWS/RDS", of: "database", isOfRelease: false } as const;
  return [
    {
      ...balancer,
      ...sum,
      part: "server-errors",
      of: "targets",
      metricName: "HTTPCode_Target_5XX_Count",
      alarmDescription: "The gateway returns 5xx errors. Check its log and the providers.",
      threshold: 20,
      evaluationPeriods: 3,
    },
    {
      ...balancer,
      ...sum,
      part: "edge-errors",
      of: "edge",
      metricName: "HTTPCode_ELB_5XX_Count",
      alarmDescription: "The load balancer has no healthy task, or a task drops connections.",
      threshold: 10,
      evaluationPeriods: 3,
    },
    {
      ...balancer,
      ...high,
      part: "unhealthy",
      of: "targets",
      metricName: "UnHealthyHostCount",
      alarmDescription: "A task is not ready: see its /readyz.",
      statistic: "Minimum",
      period: 60,
      threshold: 0,
      evaluationPeriods: 5,
    },
    {
      ...low,
      part: "tasks-missing",
      of: "service",
      isOfRelease: false,
      alarmDescription: "Fewer tasks are running than the minimum.",
      namespace: "ECS/ContainerInsights",
      metricName: "RunningTaskCount",
      threshold: config.tasksMin,
      period: 60,
      evaluationPeriods: 5,
      treatMissingData: "breaching",
    },
    {
      ...sum,
      part: "logged-errors",
      of: "logs",
      isOfRelease: false,
      alarmDescription: "The gateway logs errors, such as unwritable records, unreadable keys or bugs.",
      namespace: names.metricNamespace,
      metricName: loggedErrorsMetric,
      period: 300,
      threshold: 0,
      evaluationPeriods: 1,
    },
    {
      ...database,
      ...high,
      part: "database-cpu",
      metricName: "CPUUtilization",
      alarmDescription: "The database CPU utilization is above 80 %.",
      threshold: 80,
      evaluationPeriods: 3,
    },
    {
      ...database,
      ...low,
      part: "database-storage",
      metricName: "FreeStorageSpace",
      alarmDescription: "The database storage is nearly full, despite autoscaling.",
      threshold: Math.min(5, config.databaseStorageGib / 5) * gibibyte,
      evaluationPeriods: 1,
    },
    {
      ...database,
      ...high,
      part: "database-connections",
      metricName: "DatabaseConnections",
      alarmDescription: "The database has more connections than the tasks should use.",
      threshold: config.tasksMax * 2 * workersOf(config.cpu) * config.databaseConnectionsMax,
      evaluationPeriods: 1,
    },
  ];
}

/** The metric of the log filter that counts lines with the level `error`. */
export const loggedErrorsMetric = "LoggedErrors";

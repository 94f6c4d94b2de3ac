import { changeJson, changing, type Check, field, problems } from "../helpers/check.ts";
import { find, type Graph, type Inputs, json, ofType, texts } from "../helpers/graph.ts";

const alarmType = "aws:cloudwatch/metricAlarm:MetricAlarm";
const dashboardType = "aws:cloudwatch/dashboard:Dashboard";

export const observabilityChecks: Record<number, Check> = {
  17: {
    title: "alarms and dashboard refer to existing resources, and alarms have recipients",
    findings(graph) {
      const alarms = ofType(graph, alarmType);
      const counted = ofType(graph, "aws:cloudwatch/logMetricFilter:LogMetricFilter").map(({ inputs }) => {
        const made = inputs["metricTransformation"];
        return `${String(field(made, "namespace"))} ${String(field(made, "name"))}`;
      });
      const isThere = (namespace: unknown, metric: unknown, dimensions: Inputs) => {
        const isOurs = counted.includes(`${String(namespace)} ${String(metric)}`);
        const names = Object.entries(dimensions);
        return isOurs
          ? names.length === 0
          : names.length > 0 && names.every((each) => exists(graph, ...each));
      };
      const body = json<Body>(find(graph, dashboardType, "gateway").inputs["dashboardBody"]);
      const metrics = body?.widgets.flatMap(({ properties }) => properties.metrics) ?? [];
      const watching = texts(
        ofType(graph, "aws:ecs/service:Service").map(({ inputs }) => inputs["alarms"] ?? null),
      );
      const alarmNames = alarms.map(({ inputs }) => inputs["name"]);
      return [
        ...problems(alarms, ({ name, inputs, propertyDependencies }) => {
          const dimensions = (inputs["dimensions"] ?? {}) as Inputs;
          if (!isThere(inputs["namespace"], inputs["metricName"], dimensions))
            return `${name} watches nothing`;
          const heard = propertyDependencies["alarmActions"]?.some((urn) =>
            urn.includes("aws:sns/topic:Topic"),
          );
          return !heard && `${name} tells nobody`;
        }),
        ...problems(metrics, ([namespace, metric, ...pairs]) => {
          const dimensions: Inputs = {};
          for (let index = 0; index < pairs.length; index += 2)
            dimensions[pairs[index] ?? ""] = pairs[index + 1] ?? "";
          return !isThere(namespace, metric, dimensions) && `the dashboard shows ${metric} of nothing`;
        }),
        ...problems(watching, ({ text }) => !alarmNames.includes(text) && `no alarm is called ${text}`),
      ];
    },
    mutants: {
      "an alarm about another service": changing(alarmType, "tasks-missing", {
        dimensions: { ClusterName: "gateway-prod", ServiceName: "gone" },
      }),
      "an alarm about no load balancer": changing(alarmType, "edge-errors", {
        dimensions: { LoadBalancer: "app/gone/1" },
      }),
      "a metric nobody counts": changing(alarmType, "logged-errors", { metricName: "Gone" }),
      "an alarm nobody hears": (graph) =>
        delete find(graph, alarmType, "database-cpu").propertyDependencies["alarmActions"],
      "a graph of another database": (graph) =>
        changeJson<Body>(find(graph, dashboardType, "gateway"), "dashboardBody", ({ widgets }) => {
          widgets
            .at(-1)
            ?.properties.metrics.push(["AWS/RDS", "CPUUtilization", "DBInstanceIdentifier", "gone"]);
        }),
      "a release watched by no alarm": (graph) => {
        for (const alarm of ofType(graph, alarmType)) alarm.inputs["name"] = "renamed";
      },
    },
  },
};

type Body = { widgets: { properties: { metrics: string[][] } }[] };

/** Returns whether a dimension's value names a resource of the graph. */
function exists(graph: Graph, dimension: string, value: unknown): boolean {
  // In a preview, the name in AWS is unknown.
  if (typeof value !== "string") return graph.phase === "preview";
  const named = (type: string, property: string) =>
    ofType(graph, type).some(({ inputs }) => inputs[property] === value);
  const suffixes: Record<string, string> = { LoadBalancer: "app", TargetGroup: "targetgroup" };
  if (dimension === "ClusterName") return named("aws:ecs/cluster:Cluster", "name");
  if (dimension === "ServiceName") return named("aws:ecs/service:Service", "name");
  if (dimension === "DBInstanceIdentifier") return named("aws:rds/instance:Instance", "identifier");
  const kind = suffixes[dimension];
  const type =
    dimension === "LoadBalancer" ? "aws:lb/loadBalancer:LoadBalancer" : "aws:lb/targetGroup:TargetGroup";
  const balancers = ofType(graph, type).map(({ name, inputs }) =>
    String(inputs["name"] ?? `${name}-1a2b3c4`),
  );
  return balancers.some((name) => value.startsWith(`${kind}/${name}/`));
}

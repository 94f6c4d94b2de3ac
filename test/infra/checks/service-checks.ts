import { change, type Check, field, problems } from "../helpers/check.ts";
import { changeContainer, containersOf } from "../helpers/containers-of.ts";
import { find, type Graph, ofType } from "../helpers/graph.ts";

const serviceType = "aws:ecs/service:Service";
const logGroupType = "aws:cloudwatch/logGroup:LogGroup";
const subnetType = "aws:ec2/subnet:Subnet";
const scalingType = "aws:appautoscaling/target:Target";
const otherImage = "111122223333.dkr.ecr.eu-central-1.amazonaws.com/model-gateway:latest";

export const serviceChecks: Record<number, Check> = {
  9: {
    title: "two or more tasks in two zones are replaced without a gap and rolled back",
    findings: (graph) =>
      ofType(graph, serviceType).flatMap((service) => {
        const { inputs, propertyDependencies } = service;
        const subnets = propertyDependencies["networkConfiguration"] ?? [];
        const zones = new Set(
          ofType(graph, subnetType)
            .filter(({ urn }) => subnets.includes(urn))
            .map((subnet) => subnet.inputs["availabilityZone"]),
        );
        const [scaling] = ofType(graph, scalingType);
        const breaker = inputs["deploymentCircuitBreaker"];
        const alarms = inputs["alarms"];
        const alarmNames = field(alarms, "alarmNames");
        const rules: [boolean, string][] = [
          [Number(inputs["desiredCount"]) >= 2, "there is one task"],
          [Number(scaling?.inputs["minCapacity"]) >= 2, "scaling leaves one task"],
          [service.ignoreChanges.includes("desiredCount"), "an update undoes the scaling"],
          [zones.size >= 2, "the tasks are in one zone"],
          [inputs["deploymentMinimumHealthyPercent"] === 100, "a release stops tasks before it has others"],
          [field(breaker, "enable") === true && field(breaker, "rollback") === true, "no circuit breaker"],
          [
            field(alarms, "enable") === true && field(alarms, "rollback") === true,
            "alarms take nothing back",
          ],
          [Array.isArray(alarmNames) && alarmNames.length > 0, "no alarm watches a release"],
          [inputs["waitForSteadyState"] === true, "an update ends before it is known how it went"],
          [
            field(inputs["networkConfiguration"], "assignPublicIp") === false,
            "the tasks have addresses on the internet",
          ],
        ];
        return rules.filter(([holds]) => !holds).map(([, problem]) => problem);
      }),
    mutants: {
      "one task": (graph) => change(serviceOf(graph), { desiredCount: 1 }),
      "scaling to one": (graph) => change(find(graph, scalingType, "service"), { minCapacity: 1 }),
      "no one ignores": (graph) => serviceOf(graph).ignoreChanges.pop(),
      "one zone": (graph) =>
        ofType(graph, subnetType).forEach((subnet) => change(subnet, { availabilityZone: "eu-central-1a" })),
      "a gap": (graph) => change(serviceOf(graph), { deploymentMinimumHealthyPercent: 50 }),
      "no circuit breaker": (graph) =>
        change(serviceOf(graph), { deploymentCircuitBreaker: { enable: true, rollback: false } }),
      "no alarms": (graph) =>
        change(serviceOf(graph), { alarms: { enable: true, rollback: true, alarmNames: [] } }),
      "nobody waits": (graph) => change(serviceOf(graph), { waitForSteadyState: false }),
      "public addresses": (graph) =>
        change(serviceOf(graph), { networkConfiguration: { assignPublicIp: true } }),
    },
  },
  10: {
    title: "production runs one image, named by its digest",
    findings(graph) {
      const images = containersOf(graph).map(({ container }) => container.image);
      if (new Set(images).size > 1) return ["there are several images"];
      if (graph.stack !== "prod") return [];
      return problems(images, (image) => !/@sha256:[0-9a-f]{64}$/.test(image) && `${image} may change`);
    },
    mutants: {
      "a tag": (graph) => {
        for (const task of ["service", "migrate"]) changeContainer(graph, { image: otherImage }, task);
      },
      "another image migrates": (graph) => changeContainer(graph, { image: otherImage }, "migrate"),
    },
  },
  12: {
    title: "containers have minimal rights, and their logs are encrypted and expire",
    findings(graph) {
      const logGroups = ofType(graph, logGroupType);
      const names = logGroups.map(({ inputs }) => inputs["name"]);
      return [
        ...containersOf(graph).flatMap(({ container }) => {
          const ports = container.portMappings?.map(({ containerPort }) => containerPort) ?? [];
          const group = container.logConfiguration?.options["awslogs-group"] ?? "";
          const rules: [boolean, string][] = [
            [container.readonlyRootFilesystem === true, "can write"],
            [/^[1-9]\d*(:[1-9]\d*)?$/.test(container.user ?? ""), "is root"],
            [container.privileged !== true, "is privileged"],
            [container.linuxParameters?.capabilities?.drop?.join() === "ALL", "has capabilities"],
            [ports.join() === (container.name === "gateway" ? "8080" : ""), "has other ports"],
            [names.includes(group), "logs to nowhere"],
            [container.logConfiguration?.options["mode"] === "non-blocking", "stops when its log does"],
          ];
          return rules.filter(([holds]) => !holds).map(([, problem]) => `${container.name} ${problem}`);
        }),
        ...problems(logGroups, ({ name, inputs, propertyDependencies }) => {
          if (!(Number(inputs["retentionInDays"]) > 0)) return `${name} never forgets`;
          const isSealed = propertyDependencies["kmsKeyId"]?.some((urn) =>
            urn.endsWith("aws:kms/key:Key::storage"),
          );
          return !isSealed && `${name} is not sealed`;
        }),
      ];
    },
    mutants: {
      "can write": (graph) => changeContainer(graph, { readonlyRootFilesystem: false }),
      "the migration can write": (graph) =>
        changeContainer(graph, { readonlyRootFilesystem: false }, "migrate"),
      root: (graph) => changeContainer(graph, { user: "0" }),
      "root by group": (graph) => changeContainer(graph, { user: "1000:0" }),
      privileged: (graph) => changeContainer(graph, { privileged: true }),
      capabilities: (graph) => changeContainer(graph, { linuxParameters: {} }),
      "two ports": (graph) =>
        changeContainer(graph, { portMappings: [{ containerPort: 8080 }, { containerPort: 9464 }] }),
      "logs to nowhere": (graph) =>
        changeContainer(graph, {
          logConfiguration: { logDriver: "awslogs", options: { mode: "non-blocking" } },
        }),
      "logs without an expiry": (graph) =>
        change(find(graph, logGroupType, "service"), { retentionInDays: 0 }),
      "logs in the clear": (graph) =>
        delete find(graph, logGroupType, "flow").propertyDependencies["kmsKeyId"],
    },
  },
};

function serviceOf(graph: Graph) {
  return find(graph, serviceType, "service");
}

import { changing, type Check, field, problems } from "../helpers/check.ts";
import { changeContainer, containersOf } from "../helpers/containers-of.ts";
import { find, type Inputs, ofType } from "../helpers/graph.ts";

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
      "one task": changeService({ desiredCount: 1 }),
      "scaling to one": changing(scalingType, "service", { minCapacity: 1 }),
      "no one ignores": (graph) => find(graph, serviceType, "service").ignoreChanges.pop(),
      "one zone": (graph) =>
        ofType(graph, subnetType).forEach(({ inputs }) => (inputs["availabilityZone"] = "eu-central-1a")),
      "a gap": changeService({ deploymentMinimumHealthyPercent: 50 }),
      "no circuit breaker": changeService({ deploymentCircuitBreaker: { enable: true, rollback: false } }),
      "no alarms": changeService({ alarms: { enable: true, rollback: true, alarmNames: [] } }),
      "nobody waits": changeService({ waitForSteadyState: false }),
      "public addresses": changeService({ networkConfiguration: { assignPublicIp: true } }),
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
        for (const task of ["service", "migrate"]) changeContainer({ image: otherImage }, task)(graph);
      },
      "another image migrates": changeContainer({ image: otherImage }, "migrate"),
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
      "can write": changeContainer({ readonlyRootFilesystem: false }),
      "the migration can write": changeContainer({ readonlyRootFilesystem: false }, "migrate"),
      root: changeContainer({ user: "0" }),
      "root by group": changeContainer({ user: "1000:0" }),
      privileged: changeContainer({ privileged: true }),
      capabilities: changeContainer({ linuxParameters: {} }),
      "two ports": changeContainer({ portMappings: [{ containerPort: 8080 }, { containerPort: 9464 }] }),
      "logs to nowhere": changeContainer({
        logConfiguration: { logDriver: "awslogs", options: { mode: "non-blocking" } },
      }),
      "logs without an expiry": changing(logGroupType, "service", { retentionInDays: 0 }),
      "logs in the clear": (graph) =>
        delete find(graph, logGroupType, "flow").propertyDependencies["kmsKeyId"],
    },
  },
};

function changeService(inputs: Inputs) {
  return changing(serviceType, "service", inputs);
}

import { changing, type Check, field, problems } from "../helpers/check.ts";
import { describeGraph } from "../helpers/describe-graph.ts";
import {
  find,
  type Graph,
  type GraphResource,
  isUnknown,
  neededBy,
  ofType,
  texts,
  unknown,
} from "../helpers/graph.ts";

const providerType = "pulumi:providers:aws";
const serviceType = "aws:ecs/service:Service";
const taskType = "aws:ecs/taskDefinition:TaskDefinition";
const instanceType = "aws:rds/instance:Instance";
const outputNames =
  "adminPasswordArn albDnsName clusterName dashboardUrl dbEndpoint kmsKeyArn migrateTaskDefinitionArn repositoryUrl serviceName url".split(
    " ",
  );

export const graphChecks: Record<number, Check> = {
  13: {
    title: "our provider creates everything in one region and account, with tags",
    findings(graph) {
      const providers = ofType(graph, providerType);
      const [provider] = providers;
      if (!provider || providers.length > 1) return [`there are ${providers.length} providers`];
      const accounts = JSON.stringify(provider.inputs["allowedAccountIds"]);
      const tags = JSON.stringify(provider.inputs["defaultTags"]);
      return [
        ...(provider.inputs["region"] === "eu-central-1" ? [] : ["the provider has another region"]),
        ...(accounts?.includes("111122223333") ? [] : ["the provider works in any account"]),
        ...problems(
          ["project", "stack"],
          (tag) => !tags?.includes(`\\"${tag}\\"`) && `there is no tag ${tag}`,
        ),
        ...problems(
          graph.resources.filter(({ isCustom, type }) => isCustom && type.startsWith("aws:")),
          ({ name, type, provider: used }) =>
            !used.startsWith(`${provider.urn}::`) && `${type} ${name} is another's`,
        ),
        ...problems(
          graph.invocations,
          ({ token, provider: used }) => !used.startsWith(`${provider.urn}::`) && `${token} asks another`,
        ),
      ];
    },
    mutants: {
      "a default provider": (graph) => {
        find(graph, instanceType, "database").provider = "";
      },
      "a question to a default provider": (graph) => {
        for (const invocation of graph.invocations) invocation.provider = "";
      },
      "a second provider": (graph) =>
        graph.resources.push({ ...find(graph, providerType, "aws"), name: "other", urn: "other" }),
      "any account": (graph) => delete find(graph, providerType, "aws").inputs["allowedAccountIds"],
      "another region": changing(providerType, "aws", { region: "us-east-1" }),
      "no tags": (graph) => delete find(graph, providerType, "aws").inputs["defaultTags"],
    },
  },
  14: {
    title: "a release waits for its migration, the migration for the database",
    findings: (graph) =>
      ofType(graph, serviceType).flatMap((service) => {
        const needed = neededBy(graph, service);
        const migrate = find(graph, taskType, "migrate");
        const database = find(graph, instanceType, "database");
        const { beforeCreate, beforeUpdate } = service.hooks;
        const rules: [boolean, string][] = [
          [beforeCreate.join() === "prepare-release", "nothing migrates before the service is created"],
          [beforeUpdate.join() === "prepare-release", "nothing migrates before the service is updated"],
          [needed.has(migrate.urn), "the service does not wait for the migration's task"],
          [neededBy(graph, migrate).has(database.urn), "the migration does not wait for the database"],
          [
            needed.has(
              find(graph, "aws:lb/listener:Listener", graph.stack === "prod" ? "https" : "http").urn,
            ),
            "the service does not wait for the listener",
          ],
          ...graph.resources
            .filter(isNeededToRun)
            .map(({ urn, name }): [boolean, string] => [
              needed.has(urn),
              `the service does not wait for ${name}`,
            ]),
        ];
        return rules.filter(([holds]) => !holds).map(([, problem]) => problem);
      }),
    mutants: {
      "no hook at the first release": (graph) => {
        find(graph, serviceType, "service").hooks.beforeCreate = [];
      },
      "no hook at an update": (graph) => {
        find(graph, serviceType, "service").hooks.beforeUpdate = [];
      },
      "nobody waits for the migration": (graph) =>
        forget(graph, serviceType, "service", "TaskDefinition::migrate"),
      "the migration does not wait": (graph) => {
        for (const { name, type } of graph.resources) forget(graph, type, name, "Instance::database");
      },
      "groups without rules": (graph) =>
        forget(graph, serviceType, "service", "SecurityGroupIngressRule::migrate-database"),
      "subnets without a way out": (graph) => forget(graph, serviceType, "service", "Route::app-0"),
      "roles without permissions": (graph) =>
        forget(graph, serviceType, "service", "RolePolicy::migrate-database"),
    },
  },
  15: {
    title: "a preview equals the update",
    findings(graph, { otherPhase }) {
      const urns = [graph, otherPhase].flatMap(({ resources }) => resources.map(({ urn }) => urn));
      const difference = urns.filter((urn) => urns.indexOf(urn) === urns.lastIndexOf(urn));
      return difference.map((urn) => `${urn} is in one of preview and update`);
    },
    mutants: {
      "not in this phase": (graph) =>
        graph.resources.splice(graph.resources.indexOf(find(graph, instanceType, "database")), 1),
      "in this phase only": (graph) =>
        graph.resources.push({ ...find(graph, instanceType, "database"), urn: "urn:pulumi:inside-an-apply" }),
    },
  },
  16: {
    title: "no text contains an unknown, undefined or unresolved value",
    findings: (graph) =>
      graph.resources.flatMap(({ urn, inputs }) => [
        ...problems([urn], (text) => leak.test(text) && `the name of ${text}`),
        // Container definitions contain program code, which may contain `undefined`.
        ...problems(
          texts(inputs).filter(({ path }) => path.at(-1) !== "containerDefinitions"),
          ({ path, text }) => leak.test(text) && `${urn} ${path.join(".")}: ${text.slice(0, 80)}`,
        ),
      ]),
    mutants: {
      "an output in a text": changing(instanceType, "database", {
        identifier: "x-Calling [toString] on an [Output<T>]",
      }),
      "an unknown in a name": (graph) => {
        find(graph, instanceType, "database").urn += "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
      },
      undefined: changing(instanceType, "database", { identifier: "gateway-undefined" }),
      "an object": changing(instanceType, "database", { identifier: "[object Object]" }),
    },
  },
  18: {
    title: "every output exists and is known after an update",
    findings: (graph) =>
      problems(outputNames, (name) => {
        const value = graph.outputs[name];
        if (value === undefined || value === null || value === "") return `${name} is not there`;
        const isOpen = isUnknown(value) || field(value, "$secret") !== undefined;
        return isOpen && graph.phase === "update" && `${name} is not known`;
      }),
    mutants: {
      "not there": (graph) => delete graph.outputs["url"],
      empty: (graph) => {
        graph.outputs["dbEndpoint"] = "";
      },
      "not known": (graph) => {
        graph.outputs["kmsKeyArn"] = unknown;
      },
    },
  },
  19: {
    title: "the graph has no cycles and equals the checked-in one",
    findings: (graph, { agreed }) => [
      ...problems(
        graph.resources,
        (resource) => neededBy(graph, resource).has(resource.urn) && `${resource.name} waits for itself`,
      ),
      ...(agreed === null || agreed === describeGraph(graph)
        ? []
        : ["the graph has changed: look at it, and if it should, run again with UPDATE_GOLDEN=1"]),
    ],
    mutants: {
      "a circle": (graph) => {
        const database = find(graph, instanceType, "database");
        find(graph, "aws:kms/key:Key", "storage").dependencies.push(database.urn);
      },
      "another size": changing(instanceType, "database", { allocatedStorage: 21 }),
    },
  },
};

const leak = /Calling \[toString\]|\[object |undefined|\bNaN\b|04da6b54-80e4-46f7-96ec-b56ff0331ba9/;

/** Returns whether the service's tasks need the resource, although their definition does not refer to it. */
function isNeededToRun({ type, name }: GraphResource): boolean {
  if (type.startsWith("aws:vpc/securityGroup")) return !/^edge-\d/.test(name);
  if (type === "aws:ec2/vpcEndpoint:VpcEndpoint") return name !== "s3";
  if (type.startsWith("aws:ec2/route")) return name.startsWith("app-");
  return type === "aws:iam/rolePolicy:RolePolicy" && name !== "flow";
}

function forget(graph: Graph, type: string, name: string, target: string): void {
  const resource: GraphResource = find(graph, type, name);
  resource.dependencies = resource.dependencies.filter((urn) => !urn.endsWith(target));
}

import * as pulumi from "@pulumi/pulumi";
import test from "ava";
import { readStackConfig } from "../../infra/stack-config.ts";
import { namesOf } from "../../infra/names.ts";
import { createFakeAws, goodRelease, reaching, stoppedTask } from "./helpers/fake-aws.ts";
import { fakeOutputs } from "./helpers/fake-outputs.ts";
import { exampleConfig } from "./helpers/run-program.ts";

type Made = { type: string; name: string; inputs: Record<string, unknown> };

/** The custom resources that the latest component has registered so far. */
const made: Made[] = [];
await pulumi.runtime.setMocks(
  {
    call: () => ({ names: ["eu-central-1a", "eu-central-1b", "eu-central-1c"] }),
    newResource({ type, name, inputs, custom }) {
      if (custom) made.push({ type, name, inputs });
      const { id, outputs } = fakeOutputs(type, name, inputs);
      return { id, state: { ...inputs, ...outputs } };
    },
  },
  "gateway",
  "prod",
);
// The mocks replace Pulumi's engine, so they must be set before a component is imported.
const { Data } = await import("../../infra/data.ts");
const { Edge } = await import("../../infra/edge.ts");
const { Network } = await import("../../infra/network.ts");

const { prepare } = await import("../../infra/prepare-release.ts");

const names = namesOf("gateway", "prod");
const storageKeyArn = "arn:aws:kms:eu-central-1:111122223333:key/storage";

test.serial("a given certificate is used without touching DNS", async (t) => {
  const certificateArn = "arn:aws:acm:eu-central-1:111122223333:certificate/mine";
  const edge = await make(11, () => edgeOf({ certificateArn, hostedZoneId: "" }));
  t.like(only(edge.made, "lb/listener:", "https"), { certificateArn });
  t.false(edge.made.some(({ type }) => type.startsWith("aws:route53") || type.startsWith("aws:acm")));
  t.is(await valueOf(edge.component.url), "https://gateway.example.com");
});

test.serial("without a certificate, in development, the load balancer's name is the URL", async (t) => {
  const plain = { environment: "development", allowHttp: "true", hostedZoneId: "", domainName: "" };
  const edge = await make(10, () => edgeOf(plain));
  t.is(edge.made.filter(({ type }) => type.includes("lb/listener")).length, 1);
  t.is(await valueOf(edge.component.url), "http://gateway-prod-1234567890.eu-central-1.elb.amazonaws.com");
});

test.serial("the firewall's common rules skip requests to the models", async (t) => {
  for (const [waf, action] of [
    ["count", { count: {} }],
    ["block", { none: {} }],
  ] as const) {
    const edge = await make(15, () => edgeOf({ waf }));
    const { rules } = only(edge.made, "wafv2/webAcl:", "edge") as { rules: Record<string, unknown>[] };
    const common = rules.find(({ name }) => name === "console");
    t.deepEqual(common?.["overrideAction"], action);
    t.regex(JSON.stringify(common), /"notStatement".*"STARTS_WITH","searchString":"\/v1\/"/);
  }
  const without = await make(13, () => edgeOf({ waf: "off" }));
  t.false(without.made.some(({ type }) => type.includes("waf")));
});

test.serial("three zones have as many NAT gateways as configured", async (t) => {
  const config = configOf({ zones: "3", natGateways: "2" });
  const network = await make(38, () => new Network("network", { config, names, storageKeyArn }, {}));
  t.is(network.made.filter(({ type }) => type.includes("subnet:")).length, 9);
  t.is(network.made.filter(({ type }) => type.includes("natGateway")).length, 2);
  const candidates = ["app-0", "app-1", "app-2"].map(
    (name) => only(network.made, "ec2/route:", name)["natGatewayId"],
  );
  t.deepEqual(candidates, ["nat-0-1a2b3c4", "nat-1-1a2b3c4", "nat-0-1a2b3c4"]);
});

test.serial("a small database has no Performance Insights, and no database is public", async (t) => {
  for (const [databaseClass, expected] of [
    ["db.t4g.micro", undefined],
    ["db.t4g.medium", true],
  ] as const) {
    const config = configOf({ databaseClass, databaseConnectionsMax: "2" });
    const args = { config, names, subnetIds: ["a", "b"], firewallId: "sg", storageKeyArn };
    const data = await make(5, () => new Data("data", args, {}));
    const database = only(data.made, "rds/instance:", "database");
    t.is(database["performanceInsightsEnabled"], expected);
    t.is(database["publiclyAccessible"], false);
  }
});

test.serial("a failed migration fails the hook, and a service with the same task runs none", async (t) => {
  const aws = await createFakeAws(t, {
    ...goodRelease,
    DescribeTasks: () => ({ tasks: [stoppedTask({ exitCode: 0 }, { exitCode: 1 })] }),
  });
  Object.assign(process.env, reaching(aws));
  const args = {
    region: "eu-central-1",
    secretArns: [pulumi.output("arn:aws:secretsmanager:eu-central-1:111122223333:secret:signing")],
    migration: pulumi.output({
      cluster: "cluster",
      taskDefinition: "migrate:7",
      subnets: ["a"],
      securityGroup: "sg",
      logGroup: "/logs",
    }),
  };
  const update = (oldTask: string, newTask: string) =>
    prepare(args, { oldInputs: { taskDefinition: oldTask }, newInputs: { taskDefinition: newTask } });
  await update("gateway:7", "gateway:7");
  t.deepEqual(aws.operations(), []);
  await t.throwsAsync(update("gateway:7", "gateway:8"), {
    message: /The migration failed: the container migrate exited with code 1/,
  });
  t.deepEqual(aws.operations().slice(0, 4), ["DescribeSecret", "PutSecretValue", "RunTask", "DescribeTasks"]);
});

function configOf(changes: Record<string, string>) {
  const changed = Object.entries(changes).map(([key, value]) => [`gateway:${key}`, value]);
  return readStackConfig({ ...exampleConfig("prod"), ...Object.fromEntries(changed) }, "gateway", "prod");
}

function edgeOf(changes: Record<string, string>) {
  const args = { config: configOf(changes), names, vpcId: "vpc", subnetIds: ["a", "b"], firewallId: "sg" };
  return new Edge("edge", args, {});
}

async function make<Component>(count: number, create: () => Component) {
  made.length = 0;
  const component = create();
  while (made.length < count) await new Promise((resolve) => setImmediate(resolve));
  return { component, made: [...made] };
}

function only(all: Made[], type: string, name: string): Record<string, unknown> {
  const found = all.filter((each) => each.type.includes(type) && each.name === name);
  if (found.length !== 1) throw new Error(`${found.length} of ${type} ${name}`);
  return found[0]?.inputs ?? {};
}

function valueOf<Value>(output: pulumi.Output<Value>): Promise<Value> {
  return new Promise((resolve) => {
    output.apply((value) => resolve(value));
  });
}

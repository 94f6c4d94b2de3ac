import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import test from "ava";
import { accessChecks } from "./checks/access-checks.ts";
import { configurationChecks } from "./checks/configuration-checks.ts";
import { databaseChecks } from "./checks/database-checks.ts";
import { edgeChecks } from "./checks/edge-checks.ts";
import { graphChecks } from "./checks/graph-checks.ts";
import { networkChecks } from "./checks/network-checks.ts";
import { observabilityChecks } from "./checks/observability-checks.ts";
import { serviceChecks } from "./checks/service-checks.ts";
import type { Check, Others } from "./helpers/check.ts";
import { isFull } from "../helpers/scale.ts";
import { describeGraph } from "./helpers/describe-graph.ts";
import type { Graph } from "./helpers/graph.ts";
import { createFakeAws, goodRelease, reaching } from "./helpers/fake-aws.ts";
import { exampleConfig, runProgram } from "./helpers/run-program.ts";

/** Configures a production stack with unusual options. */
const wide = {
  "gateway:image": `ghcr.io/example/model-gateway@sha256:${"1".repeat(64)}`,
  "gateway:certificateArn": "arn:aws:acm:eu-central-1:111122223333:certificate/given",
  "gateway:hostedZoneId": "",
  "gateway:zones": "3",
  "gateway:natGateways": "3",
  "gateway:privateEndpoints": "true",
  "gateway:cpu": "2048",
  "gateway:memory": "4096",
  "gateway:tasksMax": "6",
  "gateway:streamSecondsMax": "3600",
  "gateway:waf": "block",
  "gateway:alarmEmail": "",
};

/** Answers the AWS requests of the release hook in the production update. */
const owner = { teardown: (stop: () => unknown) => test.after.always(async () => void (await stop())) };
const aws = await createFakeAws(owner, goodRelease);

/** Pulumi's language host runs once per stack and phase. All checks share the graphs. */
const recorded = new Map(
  Object.entries({
    ...(isFull && {
      "dev preview": runProgram({ stack: "dev", phase: "preview", config: exampleConfig("dev") }),
    }),
    "dev update": runProgram({ stack: "dev", phase: "update", config: exampleConfig("dev") }),
    "prod preview": runProgram({ stack: "prod", phase: "preview", config: exampleConfig("prod") }),
    "prod update": runProgram({
      stack: "prod",
      phase: "update",
      config: exampleConfig("prod"),
      runsHooks: true,
      environment: reaching(aws),
    }),
    "wide update": runProgram({
      stack: "prod",
      phase: "update",
      config: { ...exampleConfig("prod"), ...wide },
    }),
  }),
);

const checks: Record<number, Check> = {
  ...networkChecks,
  ...databaseChecks,
  ...accessChecks,
  ...edgeChecks,
  ...serviceChecks,
  ...configurationChecks,
  ...graphChecks,
  ...observabilityChecks,
};

for (const key of recorded.keys()) {
  test(`${key} deploys completely`, async (t) => {
    t.timeout(900_000, "processes that import a lot");
    const run = await recorded.get(key);
    const said = run?.messages.filter((message) => !saidByMigration.test(message));
    t.deepEqual(said, []);
    t.deepEqual(run?.failures, []);
    t.is(run?.exitCode, 0);
    t.true((run?.graph.resources.length ?? 0) > 90);
  });
}

const saidByMigration = /^(The migration is running as arn:|Ran 0001\.$)/;

test("an update fills secrets and migrates before it creates the service", async (t) => {
  const { resources } = await graphOf("prod update");
  const secret = ["DescribeSecret", "PutSecretValue"];
  t.deepEqual(aws.operations(), [...secret, ...secret, "RunTask", "DescribeTasks", "GetLogEvents"]);
  const { clientToken: _, ...input } = aws.requests[4]?.input ?? {};
  t.like(input, {
    cluster: "arn:aws:ecs:eu-central-1:111122223333:cluster/gateway-prod",
    taskDefinition: "arn:aws:ecs:eu-central-1:111122223333:task-definition/migrate-1a2b3c4:1",
    networkConfiguration: {
      awsvpcConfiguration: {
        subnets: ["app-0-1a2b3c4", "app-1-1a2b3c4"],
        securityGroups: ["migrate-1a2b3c4"],
      },
    },
  });
  t.true(resources.some(({ type }) => type === "aws:ecs/service:Service"));
});

for (const [number, check] of Object.entries(checks)) {
  test(`${number}. ${check.title}`, async (t) => {
    for (const key of recorded.keys())
      t.deepEqual(check.findings(await graphOf(key), await othersOf(key)), [], key);
  });

  test(`${number}. the check detects a violation`, async (t) => {
    t.true(Object.keys(check.mutants).length > 0);
    for (const [title, mutate] of Object.entries(check.mutants)) {
      const graph = structuredClone(await graphOf("prod update"));
      mutate(graph);
      t.not(check.findings(graph, await othersOf("prod update")).length, 0, `not noticed: ${title}`);
    }
  });
}

test("twenty checks exist", (t) => {
  t.deepEqual(
    Object.keys(checks).map(Number),
    Array.from({ length: 20 }, (_, index) => index + 1),
  );
});

async function graphOf(key: string): Promise<Graph> {
  const run = await recorded.get(key);
  if (!run) throw new Error(`There is no recording of ${key}.`);
  return run.graph;
}

async function othersOf(key: string): Promise<Others> {
  const [stack = "", phase] = key.split(" ");
  // The wide stack has no preview, and below full scale, dev has none. Their updates are compared with themselves.
  const otherKey = `${stack} ${phase === "update" ? "preview" : "update"}`;
  const otherPhase = await graphOf(recorded.has(otherKey) ? otherKey : key);
  const isAgreed = phase === "update" && stack !== "wide";
  return { otherPhase, agreed: isAgreed ? await agreedGraph(stack) : null };
}

/** Returns the checked-in description of the graph. `UPDATE_GOLDEN=1` rewrites the file first. */
async function agreedGraph(stack: string): Promise<string> {
  const file = path.join(import.meta.dirname, "golden", `${stack}.txt`);
  if (process.env["UPDATE_GOLDEN"] === "1")
    writeFileSync(file, describeGraph(await graphOf(`${stack} update`)));
  return readFileSync(file, "utf8");
}

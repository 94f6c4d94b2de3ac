import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
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
import { describeGraph } from "./helpers/describe-graph.ts";
import type { Graph } from "./helpers/graph.ts";
import { exampleConfig, runProgram } from "./helpers/run-program.ts";

/** Production again, with everything chosen otherwise that can be. */
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

/** Each is run once, by Pulumi's own language host; all checks look at the same four graphs. */
const stacks = ["dev", "prod", "wide"] as const;
const phases = ["preview", "update"] as const;
const recorded = Promise.all(
  stacks.flatMap((stack) =>
    phases.map(async (phase) => ({ key: `${stack} ${phase}`, run: await record(stack, phase) })),
  ),
).then((runs) => new Map(runs.map(({ key, run }) => [key, run])));

function record(stack: (typeof stacks)[number], phase: Graph["phase"]) {
  if (stack !== "wide") return runProgram({ stack, phase, config: exampleConfig(stack) });
  return runProgram({ stack: "prod", phase, config: { ...exampleConfig("prod"), ...wide } });
}

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

for (const stack of stacks) {
  for (const phase of phases) {
    test(`${phase} of ${stack} runs to its end`, async (t) => {
      t.timeout(240_000, "four processes, which import a lot");
      const run = (await recorded).get(`${stack} ${phase}`);
      t.deepEqual(run?.messages, []);
      t.is(run?.exitCode, 0);
      t.true((run?.graph.resources.length ?? 0) > 90);
    });
  }
}

for (const [number, check] of Object.entries(checks)) {
  test(`${number}. ${check.title}`, async (t) => {
    for (const stack of stacks) {
      for (const phase of phases)
        t.deepEqual(
          check.findings(await graphOf(stack, phase), await othersOf(stack, phase)),
          [],
          `${stack}, ${phase}`,
        );
    }
  });

  test(`${number}. seen to fail`, async (t) => {
    t.true(Object.keys(check.mutants).length > 0);
    for (const [title, mutate] of Object.entries(check.mutants)) {
      const graph = structuredClone(await graphOf("prod", "update"));
      mutate(graph);
      t.not(check.findings(graph, await othersOf("prod", "update")).length, 0, `not noticed: ${title}`);
    }
  });
}

test("there are twenty checks", (t) => {
  t.deepEqual(
    Object.keys(checks).map(Number),
    Array.from({ length: 20 }, (_, index) => index + 1),
  );
});

async function graphOf(stack: string, phase: string): Promise<Graph> {
  const run = (await recorded).get(`${stack} ${phase}`);
  if (!run) throw new Error(`There is no recording of ${stack}, ${phase}.`);
  return run.graph;
}

async function othersOf(stack: string, phase: string): Promise<Others> {
  const otherPhase = await graphOf(stack, phase === "update" ? "preview" : "update");
  return { otherPhase, agreed: phase === "update" && stack !== "wide" ? await agreedGraph(stack) : null };
}

/** The graph in words as it is checked in. */
async function agreedGraph(stack: string): Promise<string> {
  const file = path.join(import.meta.dirname, "golden", `${stack}.txt`);
  if (process.env["UPDATE_GOLDEN"] === "1") {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, describeGraph(await graphOf(stack, "update")));
  }
  return readFileSync(file, "utf8");
}

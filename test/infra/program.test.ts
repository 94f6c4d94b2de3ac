import path from "node:path";
import test from "ava";
import { graphChecks } from "./checks/graph-checks.ts";
import { createFakeAws, goodRelease, reaching, stoppedTask } from "./helpers/fake-aws.ts";
import { exampleConfig, runProgram } from "./helpers/run-program.ts";

const serviceType = "aws:ecs/service:Service";
const slow = [240_000, "Pulumi's language host imports a lot"] as const;

test("a failed migration keeps the service unchanged and fails the update", async (t) => {
  t.timeout(...slow);
  const aws = await createFakeAws(t, {
    ...goodRelease,
    DescribeTasks: () => ({ tasks: [stoppedTask({ exitCode: 0 }, { exitCode: 1 })] }),
  });
  const run = await runProgram({
    stack: "prod",
    phase: "update",
    config: exampleConfig("prod"),
    runsHooks: true,
    environment: reaching(aws),
  });
  t.is(run.failures.length, 1);
  t.regex(
    run.failures[0] ?? "",
    /Service::service: The migration failed: the container migrate exited with code 1/,
  );
  t.false(run.graph.resources.some(({ type }) => type === serviceType));
});

test("an invalid configuration creates nothing, and the message names every key", async (t) => {
  t.timeout(...slow);
  const config: Record<string, string> = {
    ...exampleConfig("prod"),
    "gateway:image": "example.com/model-gateway:latest",
  };
  delete config["gateway:hostedZoneId"];
  const run = await runProgram({ stack: "prod", phase: "preview", config });
  // The language host exits with 32 after an error that it has logged for the user.
  t.is(run.exitCode, 32);
  t.deepEqual(
    run.graph.resources.map(({ type }) => type),
    ["pulumi:pulumi:Stack"],
  );
  const said = run.messages.join("\n");
  t.regex(said, /gateway:image is .*, without a digest. In production, append @sha256/);
  t.regex(said, /gateway:certificateArn is missing/);
  t.notRegex(said, /\n\s+at /);
});

test("the engine reports resources created in an apply and outputs cast to text", async (t) => {
  t.timeout(...slow);
  const program = path.join(import.meta.dirname, "programs/mistakes.ts");
  const [preview, done] = await Promise.all(
    (["preview", "update"] as const).map(async (phase) =>
      runProgram({ stack: "dev", phase, config: {}, program }),
    ),
  );
  if (!preview || !done) return t.fail();
  const others = { otherPhase: preview.graph, agreed: null };
  t.regex(graphChecks[15]?.findings(done.graph, others).join() ?? "", /::inside is in one of/);
  t.regex(graphChecks[16]?.findings(done.graph, others).join() ?? "", /second displayName: after Calling/);
});

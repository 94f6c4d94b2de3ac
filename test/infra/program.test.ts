import path from "node:path";
import test from "ava";
import { isFull } from "../helpers/scale.ts";
import { graphChecks } from "./checks/graph-checks.ts";
import { exampleConfig, runProgram } from "./helpers/run-program.ts";

const slow = [900_000, "Pulumi's language host imports a lot"] as const;

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
  const types = run.graph.resources.map(({ type }) => type);
  t.deepEqual(types, ["pulumi:pulumi:Stack"]);
  const said = run.messages.join("\n");
  t.regex(said, /gateway:image is .*, without a digest. In production, append @sha256/);
  t.regex(said, /gateway:certificateArn is missing/);
  t.notRegex(said, /\n\s+at /);
});

const negativeControl = isFull ? test : test.skip;

negativeControl("the engine reports resources created in an apply and outputs cast to text", async (t) => {
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

import { randomBytes } from "node:crypto";
import test from "ava";
import { setupModel } from "../setup/setup-models.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { createKey, usageOf } from "../helpers/test-gateway.ts";
import { claudeCode } from "./coding-tools.ts";
import { codingModel } from "./coding-model.ts";
import { installTool } from "./install-tool.ts";
import { runProgram } from "./run-program.ts";
import { shareToolUpstreams } from "./share-tool-upstreams.ts";
import { createToolHome } from "./tool-home.ts";
import { chatUpstream, claudeUpstream, geminiUpstream } from "./tool-upstreams.ts";

const gateway = shareGateway();
const prepare = shareToolUpstreams(gateway);
// Without `--model`, Claude Code uses the model of the daily workload.
const workloads = [
  { workload: "daily", upstream: claudeUpstream, parameters: [] },
  { workload: "light", upstream: chatUpstream, parameters: ["--model", "haiku"] },
  { workload: "hard", upstream: geminiUpstream, parameters: ["--model", "opus"] },
] as const;

test("each Claude Code workload reaches its selected upstream under its slug", async (t) => {
  t.timeout(400_000);
  const installed = await installTool(claudeCode);
  if ("said" in installed) return t.fail(installed.said);
  const connections = await Promise.all(workloads.map(({ upstream }) => prepare(upstream)));
  const [daily, light, hard] = connections.map(
    ({ accessTo, upstream }) => accessTo(upstream.model).models.daily,
  );
  if (!daily || !light || !hard) return t.fail("There are three.");
  const connected = [daily, light, hard].map(({ slug }) => setupModel(slug));
  const key = await createKey(
    gateway(),
    connected.map(({ slug }) => slug),
  );
  const access = { url: gateway().url, apiKey: key.value, models: { daily, light, hard, connected } };
  const { project, environment } = await createToolHome(t, claudeCode, access);
  for (const [index, { workload, parameters }] of workloads.entries()) {
    const word = randomBytes(6).toString("hex");
    const prompt = `say ${workload}`;
    const conclude = () => ["The word ", `is ${word}.`];
    for (const connection of connections) {
      connection.script = codingModel({ prompt, reader: "Read", calls: [], conclude });
      connection.upstream.asked.length = 0;
    }
    const result = await runProgram(installed.command, [...parameters, ...claudeCode.run(prompt)], {
      folder: project,
      environment,
      timeoutMs: 120_000,
    });
    t.true(result.stdout.includes(word), result.stdout + result.stderr);
    const asked = connections.map(({ upstream }) => upstream.asked.length > 0);
    t.deepEqual(
      asked,
      connections.map((_, other) => other === index),
      workload,
    );
    const [record] = await usageOf(gateway(), key.id);
    t.is(record?.model, access.models[workload].slug);
  }
});

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import test from "ava";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";

const canary = fileURLToPath(new URL("../../node_modules/compatcanary/src/cli.js", import.meta.url));

type Report = { results: { id: string; status: string; summary: string }[] };

// The profile `modern` tests responses, and `chat` tests chat completions.
for (const profile of ["modern", "chat"]) {
  test(`compatcanary, a scanner of OpenAI-style APIs, passes profile ${profile}`, async (t) => {
    const gateway = await startTestGateway(t);
    const key = await createKey(gateway);
    const target = ["--base-url", `${gateway.url}/v1`, "--model", "demo/echo"];
    const scan = ["scan", ...target, "--profile", profile, "--format", "json"];
    const { stdout } = await promisify(execFile)(process.execPath, [canary, ...scan], {
      env: { ...process.env, OPENAI_API_KEY: key.value },
    });

    const { results } = JSON.parse(stdout) as Report;
    t.true(results.length >= 5);
    for (const result of results) t.is(result.status, "pass", `${result.id}: ${result.summary}`);
  });
}

import { monitorEventLoopDelay } from "node:perf_hooks";
import test from "ava";
import { sampleJson } from "../../gateway/providers/demo/sample-json.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { createKey } from "../helpers/test-gateway.ts";
import { hostileSchemas } from "./shapes/hostile-schemas.ts";

const gateway = shareGateway({
  environment: { UPSTREAM_IDLE_TIMEOUT_MS: "1000", UPSTREAM_TOTAL_TIMEOUT_MS: "3000" },
});

for (const [name, schema] of Object.entries(hostileSchemas)) {
  test.serial(`the sample of a schema with ${name} takes less than 20 ms`, (t) => {
    const times = Array.from({ length: 3 }, () => {
      const startedAt = performance.now();
      sampleJson(schema);
      return performance.now() - startedAt;
    });
    t.true(Math.min(...times) < 20, `${times.join(" ")} ms`);
  });
}

test.serial("a long stream does not block the event loop", async (t) => {
  const { value: key } = await createKey(gateway());
  const body = chatBody("demo/echo", "word ".repeat(50_000), { stream: true, n: 8 });
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const answer = await postChat(gateway(), key, body);
  delay.disable();
  t.true(answer.text.includes("upstream_timeout") || answer.text.endsWith("data: [DONE]\n\n"));
  const p99Ms = delay.percentile(99) / 1e6;
  t.true(p99Ms < 200, `blocked for ${p99Ms} ms`);
});

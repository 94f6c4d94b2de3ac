import { monitorEventLoopDelay } from "node:perf_hooks";
import test from "ava";
import { assertError, clientError } from "../helpers/assert-error.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { createKey } from "../helpers/test-gateway.ts";
import { sampleJson } from "../../gateway/providers/demo/sample-json.ts";

const gateway = shareGateway({
  environment: { UPSTREAM_IDLE_TIMEOUT_MS: "1000", UPSTREAM_TOTAL_TIMEOUT_MS: "3000" },
});
let key: string;
test.before(async () => {
  key = (await createKey(gateway())).value;
});

const nestedArrays = (depth: number): object =>
  depth === 0 ? { type: "string" } : { type: "array", minItems: 8, items: nestedArrays(depth - 1) };

const large = "x".repeat(50_000);
const schemas: Record<string, object> = {
  "arrays nested to a depth of 16": nestedArrays(16),
  "arrays of large constants": { type: "array", minItems: 8, items: { ...nestedArrays(3), const: large } },
  "nested arrays of large defaults": {
    type: "array",
    minItems: 8,
    items: { type: "array", minItems: 8, items: { default: large } },
  },
  "a repeated required name": {
    type: "object",
    properties: { a: nestedArrays(8) },
    required: Array.from({ length: 20_000 }, () => "a"),
  },
  "many required names": {
    type: "object",
    required: Array.from({ length: 50_000 }, (_, index) => `name_${index}`),
  },
};

for (const [name, schema] of Object.entries(schemas)) {
  test(`a schema with ${name} gets a small sample`, async (t) => {
    const format = { type: "json_schema", json_schema: { name: "deep", schema } };
    const answer = await postChat(gateway(), key, chatBody("demo/echo", "Hi", { response_format: format }));
    t.is(answer.status, 200, answer.text);
    t.true(answer.text.length < 400_000, `${answer.text.length} characters`);
    const values = answer.text.match(/\\"demo\\"|null/g)?.length ?? 0;
    t.true(values <= 1_100, `${values} values`);
    const best = Math.min(...Array.from({ length: 3 }, () => timeOf(() => sampleJson(schema))));
    t.true(best < 20, `the sample took ${best} ms`);
  });
}

test("a prompt beyond the demo's limit gets 400", async (t) => {
  const answer = await postChat(gateway(), key, chatBody("demo/echo", "word ".repeat(60_000)));
  assertError(t, answer, clientError(400, "prompt_too_long", "messages"));
});

test("a long stream does not block the event loop", async (t) => {
  const body = chatBody("demo/echo", "word ".repeat(50_000), { stream: true, n: 8 });
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const answer = await postChat(gateway(), key, body);
  delay.disable();
  t.true(answer.text.includes("upstream_timeout") || answer.text.endsWith("data: [DONE]\n\n"));
  const p99Ms = delay.percentile(99) / 1e6;
  t.true(p99Ms < 200, `blocked for ${p99Ms} ms`);
});

test("the demo obeys its provider's idle timeout", async (t) => {
  const answer = await postChat(gateway(), key, chatBody("demo/echo", "/slow 1500 one two"));
  t.is(answer.status, 504, answer.text);
});

test("the demo obeys its provider's total timeout", async (t) => {
  const body = chatBody("demo/echo", `/slow 700 ${"word ".repeat(20)}`, { stream: true });
  const answer = await postChat(gateway(), key, body);
  t.regex(answer.text, /upstream_timeout/);
  t.notRegex(answer.text, /\[DONE\]/);
});

function timeOf(run: () => void): number {
  const startedAt = performance.now();
  run();
  return performance.now() - startedAt;
}

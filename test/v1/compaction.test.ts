import test from "ava";
import OpenAI from "openai";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { createUpstream, type ScriptedUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

const shared = sharedByFile();
let gateway: TestGateway;
let upstream: ScriptedUpstream;

test.before(async () => {
  upstream = await createUpstream(shared, ({ url }, response) => {
    if (url === "/v1/chat/completions") return sendCompletion(response, "Paris is sunny.");
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(answers[url] ?? nativeResponse));
  });
  gateway = await startTestGateway(shared);
  await connectUpstream(gateway, upstream, { name: "openai", preset: "openai" });
  await connectUpstream(gateway, upstream, { name: "chat" });
});

const usage = { input_tokens: 7, output_tokens: 3, total_tokens: 10 };
const nativeCompaction = {
  id: "resp_1",
  object: "response.compaction",
  created_at: 1,
  output: [{ id: "cmp_1", type: "compaction", encrypted_content: "gAAA" }],
  usage,
};
const nativeResponse = {
  id: "resp_2",
  object: "response",
  created_at: 1,
  status: "completed",
  model: "upstream-model",
  output: [],
  usage,
};

const answers: Record<string, object> = {
  "/v1/responses/compact": nativeCompaction,
  "/v1/responses/input_tokens": { object: "response.input_tokens", input_tokens: 7 },
};

const conversation: OpenAI.Responses.ResponseInput = [
  { role: "user", content: "The weather in Paris?" },
  { type: "function_call", call_id: "call_1", name: "get_weather", arguments: '{"city":"Paris"}' },
  { type: "function_call_output", call_id: "call_1", output: "sunny" },
];

test.serial("a translated conversation becomes its user messages and a summary", async (t) => {
  const { client, id } = await createClient();
  const compacted = await client.responses.compact({ model: "chat/model", input: conversation });
  t.is(compacted.object, "response.compaction");
  const content = [{ type: "input_text", text: "The weather in Paris?" }];
  t.like(compacted.output, [
    { type: "message", status: "completed", role: "user", content },
    { type: "compaction" },
  ]);
  const sent = upstream.requests.at(-1)?.body ?? "";
  for (const text of ["get_weather", "sunny"]) t.true(sent.includes(text));
  t.like(await usageOf(gateway, id), [
    { endpoint: "responses/compact", status: "SUCCEEDED", inputTokens: 5 },
  ]);
});

for (const model of ["chat/model", "openai/model"]) {
  test.serial(`${model}: a summary of this gateway is readable in the next request`, async (t) => {
    const { client } = await createClient();
    const { output } = await client.responses.compact({ model: "chat/model", input: conversation });
    const input = [...output, { role: "user", content: "And now?" }] as OpenAI.Responses.ResponseInput;
    await client.responses.create({ model, input, store: false });
    const sent = upstream.requests.at(-1)?.body ?? "";
    t.true(sent.includes("Summary of the conversation so far:\\nParis is sunny."), sent);
  });
}

test.serial("an upstream that compacts gets the request, and its answer passes unchanged", async (t) => {
  const { client, id } = await createClient();
  const compacted = await client.responses.compact({ model: "openai/model", input: conversation });
  t.like(compacted, nativeCompaction);
  t.is(upstream.requests.at(-1)?.url, "/v1/responses/compact");
  t.is(JSON.parse(upstream.requests.at(-1)?.body ?? "{}").model, "upstream-model");
  t.like(await usageOf(gateway, id), [{ inputTokens: 7, outputTokens: 3 }]);
});

test.serial("an earlier response can be compacted", async (t) => {
  const { client } = await createClient();
  const { id } = await client.responses.create({ model: "chat/model", input: "Remember the number 42." });
  await client.responses.compact({ model: "chat/model", previous_response_id: id, input: [] });
  t.true(upstream.requests.at(-1)?.body.includes("42"));
});

test.serial("input tokens are counted by OpenAI, and estimated for other providers", async (t) => {
  const { client, id } = await createClient();
  const counted = await client.responses.inputTokens.count({ model: "openai/model", input: conversation });
  t.is(counted.input_tokens, 7);
  const estimated = await client.responses.inputTokens.count({ model: "chat/model", input: conversation });
  t.is(estimated.object, "response.input_tokens");
  t.true(estimated.input_tokens > 10);
  t.deepEqual(await usageOf(gateway, id), []);
});

async function createClient(): Promise<{ client: OpenAI; id: string }> {
  const { id, value } = await createKey(gateway, ["chat/model", "openai/model"]);
  return { id, client: new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: value, maxRetries: 0 }) };
}

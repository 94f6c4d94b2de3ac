import test from "ava";
import { assertError, clientError } from "../helpers/assert-error.ts";
import { responses } from "../helpers/client-dialects.ts";
import { connectUpstream, upstreamSecret } from "../helpers/connect-upstream.ts";
import { type Answer, postTo } from "../helpers/post-chat.ts";
import { createUpstream, type ScriptedUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

// `dialect-*.test.ts` cover the behavior that this dialect shares with the Messages API.
const shared = sharedByFile();
let gateway: TestGateway;
let upstream: ScriptedUpstream;

test.before(async () => {
  upstream = await createUpstream(shared, ({ url, body }, response) => {
    if (url === "/v1/chat/completions") return sendCompletion(response);
    const isStream = body.includes('"stream": true');
    response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
    const [, ending] = /"ending":"(\w+)"/.exec(body) ?? [];
    const events = responses.events("gpt");
    const last = events.at(-1)?.replaceAll("completed", String(ending)) ?? "";
    const stream = ending === undefined ? events : [...events.slice(0, -1), last];
    response.end(isStream ? stream.join("") : responses.answer("gpt"));
  });
  gateway = await startTestGateway(shared);
  await connectUpstream(gateway, upstream, { name: "openai", preset: "openai" });
  await connectUpstream(gateway, upstream, { name: "chat" });
});

/** Uses a new key, which identifies the call's usage records and upstream requests. */
async function send(body: string, headers: Record<string, string> = {}) {
  const key = await createKey(gateway, ["openai/model", "chat/model"]);
  const mark = `for-${key.id}`;
  const marked = body.replace("MARK", mark);
  const authorization = `Bearer ${key.value}`;
  const answer: Answer = await postTo(gateway, "/v1/responses", { authorization, ...headers }, marked);
  const seen = upstream.requests.filter((request) => request.body.includes(mark));
  return { answer, seen, marked, records: await usageOf(gateway, key.id), key };
}

/** A request with unusual formatting, unknown members, and members that clients return to OpenAI. */
const spelled = (model: string, stream: boolean) => `{
  "future" : {"id":12345678901234567890, "share":1.0, "text":"\\u00e4\\/😀"},
  "stream": ${stream},
  "input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"MARK"}]},
    {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAAABo+/=="},
    {"type":"function_call","call_id":"call_1","name":"add","arguments":"{\\"n\\": 1.0}"},
    {"type":"function_call_output","call_id":"call_1","output":""},
    {"type":"compaction","encrypted_content":"gAAA","n":900719925474099312345},{"type":"news","of":1e400}],
  "model" :"${model}" ,
  "store":true,"previous_response_id":"resp_0","prompt_cache_key":"k","client_metadata":{"a":1},
  "tools":[{"type":"web_search"},{"type":"custom","name":"patch","format":{"type":"grammar","syntax":"lark","definition":"start: /a/"}}]
}`;

for (const stream of [false, true]) {
  const how = stream ? "a stream" : "a whole answer";
  test(`OpenAI receives and returns the same bytes except for the model: ${how}`, async (t) => {
    const { answer, seen, marked, records } = await send(spelled("openai/model", stream));
    t.is(answer.status, 200);
    t.is(seen.length, 1);
    t.is(seen[0]?.url, "/v1/responses");
    t.is(seen[0]?.body, marked.replace("openai/model", "upstream-model"));
    const expected = stream ? responses.events("openai/model").join("") : responses.answer("openai/model");
    t.is(answer.text, expected);
    t.like(records, [
      {
        endpoint: "responses",
        status: "SUCCEEDED",
        stream,
        model: "openai/model",
        upstreamModel: "upstream-model",
        inputTokens: 10,
        cachedInputTokens: 3,
        outputTokens: 2,
      },
    ]);
    t.is(answer.headers.get("x-request-id"), records[0]?.id ?? "none");
  });
}

test("OpenAI receives no header of the client", async (t) => {
  const { seen, key } = await send(spelled("openai/model", false), {
    "openai-organization": "org-1",
    "openai-project": "proj-1",
    "openai-beta": "responses=experimental",
    "session-id": "1",
    originator: "codex_exec",
    "x-api-key": "sk-proj-somebody-elses",
    cookie: "session=1",
    "user-agent": "codex_exec/0.169.0",
  });
  const [request] = seen;
  t.is(request?.headers.authorization, `Bearer ${upstreamSecret}`);
  const needed =
    /^(accept|accept-encoding|authorization|connection|content-length|content-type|host|user-agent)$/;
  t.deepEqual(
    Object.keys(request?.headers ?? {}).filter((name) => !needed.test(name)),
    [],
  );
  t.false(JSON.stringify(request).includes(key.value));
});

test("an OpenAI stream that ends as incomplete is complete", async (t) => {
  const body = spelled("openai/model", true).replace('"store":true', '"ending":"incomplete"');
  const { answer, records } = await send(body);
  t.regex(answer.text, /\nevent: response.incomplete\ndata: .*\n\n$/);
  t.like(records, [{ status: "SUCCEEDED", outputTokens: 2 }]);
});

test("an OpenAI stream that ends as failed is incomplete", async (t) => {
  const body = spelled("openai/model", true).replace('"store":true', '"ending":"failed"');
  const { answer, records } = await send(body);
  responses.assertErrorEnd(t, answer.text);
  t.like(records, [{ status: "FAILED", inputTokens: 10 }]);
});

for (const [name, value] of [
  ["conversation", { id: "conv_1" }],
  ["background", true],
  ["prompt", { id: "pmpt_1" }],
] as const) {
  test(`other providers reject ${name}, which only OpenAI stores`, async (t) => {
    const body = { model: "chat/model", input: "MARK", [name]: value };
    const { answer, seen } = await send(JSON.stringify(body));
    const message = assertError(t, answer, clientError(400, "unsupported_parameter", name));
    t.true(message.includes(name));
    t.deepEqual(seen, []);
  });
}

test("other providers receive no OpenAI-only members", async (t) => {
  const body = spelled("chat/model", false)
    .replace('"previous_response_id":"resp_0",', "")
    .replace(/,\s*\{"type":"compaction"[^\]]*/, "");
  const { answer, seen, records } = await send(body);
  t.is(answer.status, 200, answer.text);
  t.is(seen[0]?.url, "/v1/chat/completions");
  t.notRegex(seen[0]?.body ?? "", /gAAAA|prompt_cache_key|client_metadata|web_search|future|store/);
  t.deepEqual((JSON.parse(seen[0]?.body ?? "") as { messages: unknown }).messages, [
    { role: "user", content: `for-${records[0]?.apiKeyId}` },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "call_1", type: "function", function: { name: "add", arguments: '{"n": 1.0}' } }],
    },
    { role: "tool", tool_call_id: "call_1", content: "" },
  ]);
  t.like(JSON.parse(answer.text), {
    object: "response",
    status: "completed",
    model: "chat/model",
    store: true,
    previous_response_id: null,
    output: [{ type: "message", content: [{ type: "output_text", text: "Hi!" }] }],
    usage: { input_tokens: 5, output_tokens: 2, total_tokens: 7 },
  });
  t.like(records, [{ endpoint: "responses", status: "SUCCEEDED", inputTokens: 5, outputTokens: 2 }]);
});

import test from "ava";
import { assertError, clientError } from "../helpers/assert-error.ts";
import { messages, responses } from "../helpers/client-dialects.ts";
import { connectUpstream, upstreamSecret } from "../helpers/connect-upstream.ts";
import { type Answer, postTo } from "../helpers/post-chat.ts";
import { createUpstream, type ScriptedUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

// `errors.test.ts`, `bad-input.test.ts` and `upstream-errors.test.ts` cover the behavior that the dialects share.
const shared = sharedByFile();
let gateway: TestGateway;
let upstream: ScriptedUpstream;

test.before(async () => {
  upstream = await createUpstream(shared, ({ url, body }, response) => {
    if (url === "/v1/chat/completions") return sendCompletion(response);
    const [dialect, model] = url.startsWith("/v1/messages") ? [messages, "claude"] : [responses, "gpt"];
    const isStream = body.includes('"stream": true');
    response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
    const [, ending = "completed"] = /"ending":"(\w+)"/.exec(body) ?? [];
    const events = dialect.events(model);
    const last = events.at(-1)?.replaceAll("completed", ending) ?? "";
    response.end(isStream ? [...events.slice(0, -1), last].join("") : dialect.answer(model));
  });
  gateway = await startTestGateway(shared);
  await connectUpstream(gateway, upstream, { name: "claude", kind: "anthropic" });
  await connectUpstream(gateway, upstream, { name: "openai", preset: "openai" });
  await connectUpstream(gateway, upstream, { name: "chat" });
});

/** Uses a new key, which identifies the call's usage records and upstream requests. */
async function send(path: string, body: string, headers: Record<string, string> = {}) {
  const key = await createKey(gateway, ["claude/model", "openai/model", "chat/model"]);
  const mark = `for-${key.id}`;
  const marked = body.replace("MARK", mark);
  const authorization = `Bearer ${key.value}`;
  const answer: Answer = await postTo(gateway, `/v1/${path}`, { authorization, ...headers }, marked);
  const seen = upstream.requests.filter((request) => request.body.includes(mark));
  return { answer, seen, marked, records: await usageOf(gateway, key.id), key };
}

/** A request with unusual formatting, unknown members, and members that clients return to Claude. */
const spelled = (model: string, stream: boolean) => `{
  "future" : {"id":12345678901234567890, "share":1.0, "text":"\\u00e4\\/😀"},
  "stream": ${stream},
  "messages":[{"role":"user","content":[{"type":"text","text":"MARK","cache_control":{"type":"ephemeral","ttl":"1h"}}]},
    {"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"EqQBCgIYAhIM+/=="},{"type":"redacted_thinking","data":"EmwKAhgBEgy=="},
      {"type":"tool_use","id":"toolu_01","name":"add","input":{"n":1e400,"m":0.10,"big":900719925474099312345}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01","content":[]},{"type":"news","of":null}]}],
  "model" :"${model}" ,
  "system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.329.abc;"},{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],
  "max_tokens":100,"thinking":{"type":"adaptive","display":"updates"},"context_management":{"edits":[]},
  "tools":[{"name":"add","input_schema":{"type":"object"},"defer_loading":true,"cache_control":{"type":"ephemeral"}},{"type":"web_search_20260209","name":"web_search"}]
}`;

for (const stream of [false, true]) {
  const how = stream ? "a stream" : "a whole answer";
  test(`Anthropic receives and returns the same bytes except for the model: ${how}`, async (t) => {
    const { answer, seen, marked, records } = await send("messages", spelled("claude/model", stream));
    t.is(answer.status, 200);
    t.is(seen.length, 1);
    t.is(seen[0]?.body, marked.replace("claude/model", "upstream-model"));
    t.is(answer.text, stream ? messages.events("claude/model").join("") : messages.answer("claude/model"));
    t.like(records, [
      {
        endpoint: "messages",
        status: "SUCCEEDED",
        stream,
        model: "claude/model",
        upstreamModel: "upstream-model",
        inputTokens: 10,
        cachedInputTokens: 3,
        cacheWriteInputTokens: 2,
        outputTokens: 2,
      },
    ]);
    t.is(answer.headers.get("x-request-id"), records[0]?.id ?? "none");
    t.regex(answer.headers.get("x-gateway-overhead-ms") ?? "", /^\d+\.\d\d$/);
  });
}

test("Anthropic receives only the headers of its own API, unchanged", async (t) => {
  const about = {
    "anthropic-version": "2026-10-21",
    "anthropic-beta": "claude-code-20250219,context-1m-2025-08-07, interleaved-thinking-2025-05-14",
    "anthropic-of-tomorrow": "on",
  };
  const { seen, key } = await send("messages?beta=true", spelled("claude/model", false), {
    ...about,
    "x-api-key": "sk-ant-api03-somebody-elses",
    cookie: "session=1",
    "anthropic-dangerous-direct-browser-access": "true",
    "anthropic-workspace-id": "wrkspc_1",
    "x-claude-code-session-id": "1",
    "x-stainless-lang": "js",
    "x-app": "cli",
    "user-agent": "claude-cli/2.1.329",
    "x-forwarded-for": "10.0.0.1",
  });
  const [request] = seen;
  t.is(request?.url, "/v1/messages");
  t.like(request?.headers, { ...about, "x-api-key": upstreamSecret, "content-type": "application/json" });
  const names = Object.keys(request?.headers ?? {}).filter((name) => !neededNames.has(name));
  t.deepEqual(names, []);
  t.false(JSON.stringify(request).includes(key.value));
});

const neededNames = new Set([
  "accept",
  "accept-encoding",
  "anthropic-beta",
  "anthropic-of-tomorrow",
  "anthropic-version",
  "connection",
  "content-length",
  "content-type",
  "host",
  "user-agent",
  "x-api-key",
]);

test("Anthropic receives the gateway's version if the request names none", async (t) => {
  const { seen } = await send("messages", spelled("claude/model", false));
  t.is(seen[0]?.headers["anthropic-version"], "2023-06-01");
  t.is(seen[0]?.headers["anthropic-beta"], undefined);
});

test("other providers receive no Anthropic-only members", async (t) => {
  const body = spelled("chat/model", false).replace(
    '{"type":"news","of":null}',
    '{"type":"text","text":"So?"}',
  );
  const { answer, seen, records } = await send("messages", body, {
    "anthropic-beta": "context-1m-2025-08-07",
  });
  t.is(answer.status, 200, answer.text);
  const [request] = seen;
  t.is(request?.url, "/v1/chat/completions");
  t.is(request?.headers["anthropic-beta"], undefined);
  t.notRegex(
    request?.body ?? "",
    /cache_control|ephemeral|signature|EqQBCg|EmwKAh|billing|context_management|defer_loading|web_search|future/,
  );
  t.deepEqual((JSON.parse(request?.body ?? "") as { messages: unknown }).messages, [
    { role: "system", content: [{ type: "text", text: "Be brief." }] },
    { role: "user", content: [{ type: "text", text: `for-${records[0]?.apiKeyId}` }] },
    {
      role: "assistant",
      content: null,
      tool_calls: [
        {
          id: "toolu_01",
          type: "function",
          function: { name: "add", arguments: '{"n":1e400,"m":0.10,"big":900719925474099312345}' },
        },
      ],
    },
    { role: "tool", tool_call_id: "toolu_01", content: "" },
    { role: "user", content: "So?" },
  ]);
  t.like(JSON.parse(answer.text), {
    type: "message",
    role: "assistant",
    model: "chat/model",
    content: [{ type: "text", text: "Hi!" }],
    stop_reason: "end_turn",
    usage: { input_tokens: 5, output_tokens: 2 },
  });
  t.like(records, [{ endpoint: "messages", status: "SUCCEEDED", inputTokens: 5, outputTokens: 2 }]);
});

test("an unknown block is rejected where it would need translation", async (t) => {
  const { answer, seen } = await send("messages", spelled("chat/model", false));
  t.is(answer.status, 400);
  t.regex(answer.text, /messages\[2\]\.content\[1\]/);
  t.deepEqual(seen, []);
});

test("a request without max_tokens is rejected, as in Anthropic's API", async (t) => {
  const body = spelled("claude/model", false).replace('"max_tokens":100,', "");
  const { answer, seen } = await send("messages", body);
  const message = messages.assertError(t, answer, clientError(400, "missing_required_parameter"));
  t.regex(message, /'max_tokens'/);
  t.deepEqual(seen, []);
});

test("a max_tokens of 0 passes only to Anthropic", async (t) => {
  const filled = await send(
    "messages",
    spelled("claude/model", false).replace('"max_tokens":100', '"max_tokens":0'),
  );
  t.is(filled.answer.status, 200);
  const refused = await send(
    "messages",
    spelled("chat/model", false).replace('"max_tokens":100', '"max_tokens":0'),
  );
  messages.assertError(t, refused.answer, clientError(400, "unsupported_parameter"));
});

/** A request with unusual formatting, unknown members, and members that clients return to OpenAI. */
const responsesSpelled = (model: string, stream: boolean) => `{
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
    const { answer, seen, marked, records } = await send(
      "responses",
      responsesSpelled("openai/model", stream),
    );
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
  const { seen, key } = await send("responses", responsesSpelled("openai/model", false), {
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
  const body = responsesSpelled("openai/model", true).replace('"store":true', '"ending":"incomplete"');
  const { answer, records } = await send("responses", body);
  t.regex(answer.text, /\nevent: response.incomplete\ndata: .*\n\n$/);
  t.like(records, [{ status: "SUCCEEDED", outputTokens: 2 }]);
});

test("an OpenAI stream that ends as failed is incomplete", async (t) => {
  const body = responsesSpelled("openai/model", true).replace('"store":true', '"ending":"failed"');
  const { answer, records } = await send("responses", body);
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
    const { answer, seen } = await send("responses", JSON.stringify(body));
    const message = assertError(t, answer, clientError(400, "unsupported_parameter", name));
    t.true(message.includes(name));
    t.deepEqual(seen, []);
  });
}

test("other providers receive no OpenAI-only members", async (t) => {
  const body = responsesSpelled("chat/model", false)
    .replace('"previous_response_id":"resp_0",', "")
    .replace(/,\s*\{"type":"compaction"[^\]]*/, "");
  const { answer, seen, records } = await send("responses", body);
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

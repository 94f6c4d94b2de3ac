import { request as sendRequest } from "node:http";
import test from "ava";
import { connectUpstream, upstreamSecret } from "../helpers/connect-upstream.ts";
import { postTo } from "../helpers/post-chat.ts";
import { createUpstream, type ScriptedUpstream, type SeenRequest } from "../helpers/scripted-upstream.ts";
import { sharedByFile, shareGateway } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

// Each test checks a requirement of https://code.claude.com/docs/en/llm-gateway-protocol, as of October 2026.
const shared = sharedByFile();
const model = "anthropic/claude-sonnet-5";
let gateway: TestGateway;
let upstream: ScriptedUpstream;
let keyValue: string;
let sendRest = () => {};

test.before(async () => {
  upstream = await createUpstream(shared, ({ url, body }, response) => {
    const json = { "content-type": "application/json" };
    if (url === "/v1/messages/count_tokens")
      return void response.writeHead(200, json).end('{"input_tokens":7}');
    if (body.includes("refuse-thinking"))
      return void response.writeHead(400, json).end(JSON.stringify(refusal));
    if (!body.includes('"stream":true'))
      return void response.writeHead(200, json).end(JSON.stringify(message));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(event("message_start", { message: { ...message, content: [], stop_reason: null } }));
    sendRest = () => {
      response.write(event("message_delta", { delta: { stop_reason: "end_turn" }, usage: message.usage }));
      response.end(event("message_stop", {}));
    };
  });
  gateway = await startTestGateway(shared);
  await connectUpstream(gateway, upstream, { name: "anthropic", kind: "anthropic" });
  const providers = await gateway.admin.providers.list.query();
  const providerId = providers.find(({ name }) => name === "anthropic")?.id ?? "";
  await gateway.admin.models.create.mutate({ slug: model, providerId, upstreamModel: "claude-sonnet-5" });
  keyValue = (await createKey(gateway, [model])).value;
});

const refusal = {
  type: "error",
  error: { type: "invalid_request_error", message: "thinking: Input tag 'adaptive' found using 'type'" },
};
const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-5",
  content: [{ type: "text", text: "Hi" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 2 },
};
const attribution = { type: "text", text: "x-anthropic-billing-header: cc_version=2.1.329.a1b;" };
const body = {
  model,
  max_tokens: 9,
  system: [attribution, { type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
  messages: [{ role: "user", content: "Hi" }],
  thinking: { type: "adaptive" },
  context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
  output_config: { effort: "high" },
  tools: [{ name: "Read", input_schema: { type: "object" }, strict: true, defer_loading: true }],
  field_of_tomorrow: { a: 1.0 },
};

function event(type: string, more: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
}

function send(path: string, more: object = {}, headers: Record<string, string> = {}) {
  const version = { "anthropic-version": "2023-06-01" };
  return postTo(
    gateway,
    path,
    { authorization: `Bearer ${keyValue}`, ...version, ...headers },
    { ...body, ...more },
  );
}

test.serial("inference requests are matched on the path, not on ?beta=true", async (t) => {
  t.is((await send("/v1/messages?beta=true")).status, 200);
});

test.serial("anthropic-beta and anthropic-version are forwarded unchanged", async (t) => {
  const beta = "context-management-2025-06-27,of-tomorrow-2027-01-01";
  await send("/v1/messages", {}, { "anthropic-beta": beta, "anthropic-version": "2024-01-01" });
  t.like(upstream.requests.at(-1)?.headers, { "anthropic-beta": beta, "anthropic-version": "2024-01-01" });
});

test.serial("new anthropic-* headers are forwarded, except the workspace", async (t) => {
  const headers = {
    "anthropic-of-tomorrow": "on",
    "anthropic-workspace-id": "wrkspc_1",
    "x-claude-code-session-id": "session",
    "x-api-key": keyValue,
  };
  await send("/v1/messages", {}, headers);
  const seen = upstream.requests.at(-1)?.headers ?? {};
  t.is(seen["anthropic-of-tomorrow"], "on");
  t.is(seen["x-api-key"], upstreamSecret);
  t.is(seen["anthropic-workspace-id"], undefined);
  t.is(seen["x-claude-code-session-id"], undefined);
});

test.serial("body fields are an open list, and the system array keeps its blocks and order", async (t) => {
  await send("/v1/messages");
  t.deepEqual(JSON.parse(upstream.requests.at(-1)?.body ?? "{}"), { ...body, model: "claude-sonnet-5" });
});

test.serial("events are relayed as they arrive", async (t) => {
  const first = await new Promise<string>((resolve, reject) => {
    const headers = { authorization: `Bearer ${keyValue}`, "anthropic-version": "2023-06-01" };
    const request = sendRequest(`${gateway.url}/v1/messages`, { method: "POST", headers }, (response) => {
      response.once("data", (bytes: Buffer) => resolve(bytes.toString("utf8")));
      response.on("end", () => {});
    });
    request.on("error", reject);
    request.end(JSON.stringify({ ...body, stream: true }));
  });
  t.true(first.includes("message_start"));
  sendRest();
});

test.serial("an upstream's error wording is forwarded, on which Claude Code retries", async (t) => {
  const { status, text } = await send("/v1/messages", {
    messages: [{ role: "user", content: "refuse-thinking" }],
  });
  t.is(status, 400);
  t.like(JSON.parse(text), refusal);
});

test.serial("tokens are counted by the upstream", async (t) => {
  const { text } = await send("/v1/messages/count_tokens");
  t.deepEqual(JSON.parse(text), { input_tokens: 7 });
});

for (const credential of ["authorization", "x-api-key"] as const) {
  test.serial(`models are listed at once for discovery with ${credential}`, async (t) => {
    const value = credential === "authorization" ? `Bearer ${keyValue}` : keyValue;
    const headers = { [credential]: value, "anthropic-version": "2023-06-01" };
    const response = await fetch(`${gateway.url}/v1/models?limit=1000`, { headers, redirect: "error" });
    t.is(response.status, 200);
    const { data } = (await response.json()) as { data: { id: string; display_name?: string }[] };
    t.deepEqual(
      data.map(({ id }) => id),
      [model],
    );
  });
}

test.serial("the probe at startup is answered at once", async (t) => {
  const response = await fetch(gateway.url, { method: "HEAD" });
  t.true(response.status < 500);
});

const anthropicEndpointsGateway = shareGateway();

test.before(async () => {
  const { admin } = anthropicEndpointsGateway();
  const provider = await admin.providers.create.mutate({ name: "shelf", kind: "demo" });
  for (const name of ["a", "b", "c", "d", "e"]) {
    await admin.models.create.mutate({
      slug: `shelf/${name}`,
      providerId: provider.id,
      upstreamModel: "echo",
    });
  }
});

type Page = { data: { id: string }[]; has_more: boolean; first_id: string | null; last_id: string | null };

async function get(path: string): Promise<{ status: number; body: Page }> {
  const models = ["a", "b", "c", "d", "e"].map((name) => `shelf/${name}`);
  const { value } = await createKey(anthropicEndpointsGateway(), models);
  const headers = { "x-api-key": value, "anthropic-version": "2023-06-01" };
  const response = await fetch(`${anthropicEndpointsGateway().url}${path}`, { headers });
  return { status: response.status, body: (await response.json()) as Page };
}

const names = ({ data }: Page) => data.map(({ id }) => id.replace("shelf/", "")).join("");

test("Anthropic clients receive the models in their form, in pages", async (t) => {
  const all = await get("/v1/models?limit=1000");
  t.is(names(all.body), "abcde");
  t.like(all.body, { has_more: false, first_id: "shelf/a", last_id: "shelf/e" });
  t.like(all.body.data[0], { type: "model", display_name: "shelf/a" });

  const first = await get("/v1/models?limit=2");
  t.is(names(first.body), "ab");
  t.true(first.body.has_more);
  const next = await get(`/v1/models?limit=2&after_id=${first.body.last_id}`);
  t.is(names(next.body), "cd");
  const before = await get("/v1/models?limit=2&before_id=shelf/d");
  t.is(names(before.body), "bc");
  t.true(before.body.has_more);
  t.is(names((await get("/models")).body), "abcde");
});

test("a model and a missing one are returned in Anthropic's form", async (t) => {
  t.like(await get("/v1/models/shelf/c"), { status: 200, body: { type: "model", id: "shelf/c" } });
  for (const [path, status, type] of [
    ["/v1/models/shelf/x", 404, "not_found_error"],
    ["/v1/models?limit=0", 400, "invalid_request_error"],
    ["/v1/models?limit=many", 400, "invalid_request_error"],
    ["/v1/models?after_id=shelf/x", 400, "invalid_request_error"],
  ] as const) {
    t.like(await get(path), { status, body: { type: "error", error: { type } } }, path);
  }
});

test("Claude Code's reachability check is answered without a key", async (t) => {
  t.is((await fetch(`${anthropicEndpointsGateway().url}/api/hello`, { method: "HEAD" })).status, 200);
});

test("the usage record names the endpoint and the tool", async (t) => {
  const key = await createKey(anthropicEndpointsGateway());
  const ask = (path: string, userAgent: string, body: object) => {
    const headers = { "x-api-key": key.value, "user-agent": userAgent };
    return postTo(anthropicEndpointsGateway(), `/v1/${path}`, headers, { model: "demo/echo", ...body });
  };
  const messages = [{ role: "user", content: "Hi" }];
  await ask("messages", "claude-cli/2.1.329 (external, cli)", { messages, max_tokens: 10 });
  await ask("responses", "codex_exec/0.169.0 (Debian 12)", { input: "Hi" });
  await ask("chat/completions", "opencode/1.18.33", { messages });
  await ask("chat/completions", "curl/8.0", { messages });
  const records = await usageOf(anthropicEndpointsGateway(), key.id);
  t.deepEqual(records.map(({ endpoint, clientTool }) => [endpoint, clientTool]).toReversed(), [
    ["messages", "claude-code"],
    ["responses", "codex"],
    ["chat/completions", "opencode"],
    ["chat/completions", null],
  ]);
});

async function count(keyValue: string, body: unknown, headers: Record<string, string> = {}) {
  const path = "/v1/messages/count_tokens?beta=true";
  const sent = { "x-api-key": keyValue, ...headers };
  const { status, text } = await postTo(anthropicEndpointsGateway(), path, sent, body);
  return { status, body: JSON.parse(text) as Record<string, unknown> };
}

const question = { messages: [{ role: "user", content: "How many tokens are these?" }] };

async function addCounter(
  t: Parameters<typeof createUpstream>[0],
  name: string,
  answer: { status: number; body: string },
): Promise<{ keyId: string; keyValue: string; slug: string; requests: SeenRequest[] }> {
  const upstream = await createUpstream(t, (_request, response) => {
    response.writeHead(answer.status, { "content-type": "application/json" });
    response.end(answer.body);
  });
  const settings = { name, kind: "anthropic", upstreamModel: "claude-upstream" } as const;
  const key = await connectUpstream(anthropicEndpointsGateway(), upstream, settings);
  return { keyId: key.id, keyValue: key.value, slug: key.model, requests: upstream.requests };
}

test("an upstream that counts tokens receives the client's own request", async (t) => {
  const answer = { status: 200, body: '{"input_tokens":1234}' };
  const { keyId, keyValue, slug, requests } = await addCounter(t, "counter", answer);
  const text = `{"messages":[{"role":"user","content":"Hi"}],"big":12345678901234567890,"model":"${slug}"}`;
  const headers = { "anthropic-beta": "token-counting-2024-11-01", cookie: "secret=1" };
  t.deepEqual(await count(keyValue, text, headers), { status: 200, body: { input_tokens: 1234 } });

  const [request] = requests;
  t.is(request?.url, "/v1/messages/count_tokens");
  t.is(request?.body, text.replace(slug, "claude-upstream"));
  t.is(request?.headers["anthropic-beta"], headers["anthropic-beta"]);
  t.is(request?.headers["anthropic-version"], "2023-06-01");
  t.is(request?.headers["x-api-key"], upstreamSecret);
  t.is(request?.headers.cookie, undefined);
  t.deepEqual(
    await usageOf(anthropicEndpointsGateway(), keyId),
    [],
    "nothing was made, so nothing is recorded",
  );
});

for (const [name, status, body] of [
  ["broken", 500, "{}"],
  ["limited", 429, "{}"],
  ["odd", 200, '{"error":"none"}'],
] as const) {
  test(`without a counting upstream (${name}), the gateway counts`, async (t) => {
    const { keyValue, slug } = await addCounter(t, name, { status, body });
    const { input_tokens: tokens } = (await count(keyValue, { ...question, model: slug })).body;
    t.true(typeof tokens === "number" && tokens >= 5 && tokens <= 30, `${String(tokens)}`);
  });
}

test("more text has more tokens, in any position", async (t) => {
  const key = await createKey(anthropicEndpointsGateway());
  const tokensOf = async (more: object) =>
    Number((await count(key.value, { ...question, model: "demo/echo", ...more })).body["input_tokens"]);
  const least = await tokensOf({});
  const long = "Well, that depends on who is asking, and why. ".repeat(40);
  t.true((await tokensOf({ system: long })) > least + 200);
  t.true(
    (await tokensOf({ messages: [{ role: "user", content: [{ type: "text", text: long }] }] })) > least + 200,
  );
  const tools = [{ name: "look", description: long, input_schema: { type: "object" } }];
  t.true((await tokensOf({ tools })) > least + 200);
});

test("an invalid request or model is reported in Anthropic's form", async (t) => {
  const key = await createKey(anthropicEndpointsGateway());
  for (const [body, status, type] of [
    ["{", 400, "invalid_request_error"],
    [{ model: "demo/echo" }, 400, "invalid_request_error"],
    [{ ...question, model: "other/model" }, 404, "not_found_error"],
  ] as const) {
    const answer = await count(key.value, body);
    t.is(answer.status, status);
    t.like(answer.body, { type: "error", error: { type } });
  }
  const stranger = await count("sk-gateway-wrong", { ...question, model: "demo/echo" });
  t.like(stranger, { status: 401, body: { error: { type: "authentication_error" } } });
});

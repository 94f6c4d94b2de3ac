import { request as sendRequest } from "node:http";
import test from "ava";
import { connectUpstream, upstreamSecret } from "../helpers/connect-upstream.ts";
import { postTo } from "../helpers/post-chat.ts";
import { createUpstream, type ScriptedUpstream } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

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

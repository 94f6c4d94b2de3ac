import test from "ava";
import { messages } from "../helpers/client-dialects.ts";
import { connectUpstream, upstreamSecret } from "../helpers/connect-upstream.ts";
import { postTo } from "../helpers/post-chat.ts";
import { beginStream, createUpstream, type SeenRequest } from "../helpers/scripted-upstream.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { createKey, usageOf } from "../helpers/test-gateway.ts";

// Requirements of https://code.claude.com/docs/en/llm-gateway-protocol, as of October 2026. `own-dialects.test.ts`
// covers the forwarded headers and bodies, `upstream-errors.test.ts` the wording of errors.
const gateway = shareGateway();

test.before(async () => {
  const { admin } = gateway();
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

async function get(path: string, isBearer = false): Promise<{ status: number; body: Page }> {
  const models = ["a", "b", "c", "d", "e"].map((name) => `shelf/${name}`);
  const { value } = await createKey(gateway(), models);
  const credential: Record<string, string> = isBearer
    ? { authorization: `Bearer ${value}` }
    : { "x-api-key": value };
  const headers = { "anthropic-version": "2023-06-01", ...credential };
  const response = await fetch(`${gateway().url}${path}`, { headers, redirect: "error" });
  return { status: response.status, body: (await response.json()) as Page };
}

const names = ({ data }: Page) => data.map(({ id }) => id.replace("shelf/", "")).join("");

test("Anthropic clients receive the models in their form, in pages", async (t) => {
  for (const isBearer of [false, true]) {
    const all = await get("/v1/models?limit=1000", isBearer);
    t.is(names(all.body), "abcde");
    t.like(all.body, { has_more: false, first_id: "shelf/a", last_id: "shelf/e" });
    t.like(all.body.data[0], { type: "model", display_name: "shelf/a" });
  }

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

test("Claude Code's probes are answered without a key", async (t) => {
  t.is((await fetch(`${gateway().url}/api/hello`, { method: "HEAD" })).status, 200);
  t.true((await fetch(gateway().url, { method: "HEAD" })).status < 500);
});

test("events are relayed as they arrive", async (t) => {
  const [first = "", ...rest] = messages.events("claude");
  let sendRest = () => {};
  const upstream = await createUpstream(t, (_request, response) => {
    beginStream(response);
    response.write(first);
    sendRest = () => void response.end(rest.join(""));
  });
  const key = await connectUpstream(gateway(), upstream, { name: "relay", kind: "anthropic" });
  const headers = { "x-api-key": key.value };
  const body = JSON.stringify(messages.body(key.model, "Hi", { stream: true }));
  const response = await fetch(`${gateway().url}/v1/messages`, { method: "POST", headers, body });
  let text = "";
  for await (const bytes of response.body ?? []) {
    if (text === "") sendRest();
    text += Buffer.from(bytes).toString("utf8");
  }
  t.is(text, messages.events(key.model).join(""));
});

test("the usage record names the endpoint and the tool", async (t) => {
  const key = await createKey(gateway());
  const ask = (path: string, userAgent: string, body: object) => {
    const headers = { "x-api-key": key.value, "user-agent": userAgent };
    return postTo(gateway(), `/v1/${path}`, headers, { model: "demo/echo", ...body });
  };
  const messages = [{ role: "user", content: "Hi" }];
  await ask("messages", "claude-cli/2.1.329 (external, cli)", { messages, max_tokens: 10 });
  await ask("responses", "codex_exec/0.169.0 (Debian 12)", { input: "Hi" });
  await ask("chat/completions", "opencode/1.18.33", { messages });
  await ask("chat/completions", "curl/8.0", { messages });
  const records = await usageOf(gateway(), key.id);
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
  const { status, text } = await postTo(gateway(), path, sent, body);
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
  const key = await connectUpstream(gateway(), upstream, settings);
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
  t.deepEqual(await usageOf(gateway(), keyId), [], "nothing was made, so nothing is recorded");
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
  const key = await createKey(gateway());
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
  const key = await createKey(gateway());
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

import test from "ava";
import { createUpstream, type SeenRequest } from "../helpers/scripted-upstream.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { createKey, usageOf } from "../helpers/test-gateway.ts";

const gateway = shareGateway();

async function count(keyValue: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${gateway().url}/v1/messages/count_tokens?beta=true`, {
    method: "POST",
    headers: { "x-api-key": keyValue, "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, body: JSON.parse(await response.text()) as Record<string, unknown> };
}

const question = { messages: [{ role: "user", content: "How many tokens are these?" }] };

/** Creates a model whose Anthropic upstream returns this response to token counts. */
async function addCounter(
  t: Parameters<typeof createUpstream>[0],
  name: string,
  answer: { status: number; body: string },
): Promise<{ keyId: string; keyValue: string; slug: string; requests: SeenRequest[] }> {
  const { url, requests } = await createUpstream(t, (_request, response) => {
    response.writeHead(answer.status, { "content-type": "application/json" });
    response.end(answer.body);
  });
  const provider = await gateway().admin.providers.create.mutate({
    name,
    kind: "anthropic",
    baseUrl: `${url}/v1`,
    apiKey: "sk-ant-secret-0123456789",
  });
  const slug = `${name}/claude`;
  const upstreamModel = "claude-upstream";
  await gateway().admin.models.create.mutate({ slug, providerId: provider.id, upstreamModel });
  const { id: keyId, value: keyValue } = await createKey(gateway(), [slug]);
  return { keyId, keyValue, slug, requests };
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
  t.is(request?.headers["x-api-key"], "sk-ant-secret-0123456789");
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

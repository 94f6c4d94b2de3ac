import test from "ava";
import OpenAI from "openai";
import { endpoints } from "../../gateway/v1/endpoints.ts";
import { assertError, clientError } from "../helpers/assert-error.ts";
import { connectUpstream, upstreamSecret } from "../helpers/connect-upstream.ts";
import { type Answer, chatBody, postTo } from "../helpers/post-chat.ts";
import {
  createUpstream,
  type ScriptedUpstream,
  type SeenRequest,
  sendCompletion,
} from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

const shared = sharedByFile();
let gateway: TestGateway;
let upstream: ScriptedUpstream;
/** This key is connected to `test/model` only. */
let key: { id: string; value: string };

test.before(async () => {
  upstream = await createUpstream(shared, (_request, response) => {
    const headers = {
      "set-cookie": "a=b",
      "openai-organization": "org-2",
      "x-request-id": "theirs",
      server: "x",
    };
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    sendCompletion(response);
  });
  gateway = await startTestGateway(shared);
  key = await connectUpstream(gateway, upstream);
});

async function request(
  path: string,
  headers: Record<string, string>,
  init: RequestInit = {},
): Promise<Answer> {
  const response = await fetch(gateway.url + path, { ...init, headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const get = (path: string, value = key.value) => request(path, { authorization: `Bearer ${value}` });

async function post(path: string, headers: Record<string, string>, prompt: string) {
  const body = JSON.stringify(chatBody("test/model", prompt));
  const answer = await request(
    path,
    { "content-type": "application/json", ...headers },
    { method: "POST", body },
  );
  return { answer, seen: upstream.requests.find((request) => request.body.includes(`"${prompt}"`)) };
}

test("the list contains exactly the models connected to the key, by slug", async (t) => {
  const both = await createKey(gateway, ["test/model", "demo/echo"]);
  const none = await createKey(gateway, []);
  const idsOf = async (value: string) => {
    const { object, data } = JSON.parse((await get("/v1/models", value)).text);
    t.is(object, "list");
    return data.map(({ id }: { id: string }) => id);
  };
  t.deepEqual(await idsOf(both.value), ["demo/echo", "test/model"]);
  t.deepEqual(await idsOf(key.value), ["test/model"]);
  t.deepEqual(await idsOf(none.value), []);

  await gateway.admin.keys.setModels.mutate({ id: none.id, models: ["demo/echo"] });
  t.deepEqual(await idsOf(none.value), ["demo/echo"]);
});

for (const path of ["/v1/models/test/model", "/v1/models/test%2Fmodel", "/v1/models/test%2fmodel"]) {
  test(`the slug finds a model: ${path}`, async (t) => {
    const answer = await get(path);
    t.is(answer.status, 200);
    t.is(answer.headers.get("content-type"), "application/json; charset=utf-8");
    t.regex(answer.headers.get("x-request-id") ?? "", /^req_/);
    const { created, ...model } = JSON.parse(answer.text);
    t.deepEqual(model, { id: "test/model", object: "model", owned_by: "test" });
    t.true(Number.isInteger(created));
  });
}

test("an unconnected model looks missing", async (t) => {
  for (const path of [
    "/v1/models/demo/echo",
    "/v1/models/demo%2Fecho",
    "/v1/models/test",
    "/v1/models/test/model/x",
  ]) {
    assertError(t, await get(path), clientError(404, "model_not_found", "model"));
  }
});

test("a slug may contain several slashes", async (t) => {
  const [provider] = (await gateway.admin.providers.list.query()).filter(({ name }) => name === "test");
  const slug = "test/maker/model-1.5:free";
  await gateway.admin.models.create.mutate({ slug, providerId: provider?.id ?? "" });
  const own = await createKey(gateway, [slug]);
  for (const path of [slug, encodeURIComponent(slug)]) {
    t.like(JSON.parse((await get(`/v1/models/${path}`, own.value)).text), { id: slug, owned_by: "test" });
  }
});

test("a duplicated or missing /v1 in the base URL is tolerated", async (t) => {
  const list = await get("/v1/models");
  for (const path of ["/v1/v1/models", "/models", "/models?limit=5", "/v1/models/"]) {
    t.is((await get(path)).text, list.text, path);
  }
  for (const path of ["/v1/v1/models/test%2Fmodel", "/models/test/model"]) {
    t.like(JSON.parse((await get(path)).text), { id: "test/model" }, path);
  }
});

test("every endpoint is found with a duplicated or missing /v1", async (t) => {
  for (const { method, path } of endpoints) {
    const filled = path.replace(/[:*]\w+/, "any");
    for (const alias of [filled, `/v1${filled}`, filled.slice("/v1".length)]) {
      const refused = await request(alias, {}, { method: method.toUpperCase() });
      t.is(refused.status, 401, `${method} ${alias}`);
    }
  }
  t.is((await request("/chat", {}, { method: "POST" })).status, 404);
});

test("HEAD answers as GET does, without the body", async (t) => {
  for (const path of ["/v1/models", "/v1/models/test/model"]) {
    const whole = await get(path);
    const head = await request(path, { authorization: `Bearer ${key.value}` }, { method: "HEAD" });
    t.is(head.status, 200);
    t.is(head.text, "");
    t.is(head.headers.get("content-length"), String(Buffer.byteLength(whole.text)));
  }
  t.is((await request("/v1/models", {}, { method: "HEAD" })).status, 401);
});

const foreign = "sk-ant-api03-somebody-elses-key";
const candidates: [title: string, headers: (value: string) => Record<string, string>][] = [
  ["as bearer token", (value) => ({ authorization: `Bearer ${value}` })],
  ["as bearer token in lower case", (value) => ({ authorization: `bearer ${value}` })],
  ["in x-api-key alone", (value) => ({ "x-api-key": value })],
  [
    "in x-api-key beside a foreign token",
    (value) => ({ "x-api-key": value, authorization: `Bearer ${foreign}` }),
  ],
  [
    "as bearer token beside a foreign x-api-key",
    (value) => ({ "x-api-key": foreign, authorization: `Bearer ${value}` }),
  ],
  ["in x-api-key beside Basic", (value) => ({ "x-api-key": value, authorization: "Basic dTpw" })],
];
for (const [title, headersOf] of candidates) {
  test(`a key works ${title}, and no key is forwarded`, async (t) => {
    const headers = {
      ...headersOf(key.value),
      cookie: "session=1",
      "openai-organization": "org-1",
      "openai-project": "proj-1",
      "x-forwarded-for": "203.0.113.7",
      "x-stainless-lang": "js",
      te: "trailers",
      "proxy-authorization": "Basic dTpw",
    };
    const { answer, seen } = await post("/v1/chat/completions", headers, title);

    t.is(answer.status, 200, answer.text);
    t.is(seen?.headers.authorization, "Bearer upstream-secret-0123456789");
    t.is(seen?.headers.host, new URL(upstream.url).host);
    const allowed = [
      "accept",
      "accept-encoding",
      "authorization",
      "connection",
      "content-length",
      "content-type",
    ];
    t.deepEqual(
      Object.keys(seen?.headers ?? {}).filter((name) => ![...allowed, "host", "user-agent"].includes(name)),
      [],
      "only what the gateway itself sends",
    );
    t.false(JSON.stringify(seen).includes(key.value) || JSON.stringify(seen).includes(foreign));
    t.is((await request("/v1/models", headersOf(key.value))).status, 200);
  });
}

test("only the response's own upstream headers reach the client", async (t) => {
  const { answer } = await post("/v1/chat/completions", { "x-api-key": key.value }, "headers");
  t.deepEqual([...answer.headers.keys()].toSorted(), [
    "connection",
    "content-length",
    "content-type",
    "date",
    "keep-alive",
    "x-content-type-options",
    "x-gateway-overhead-ms",
    "x-request-id",
  ]);
  t.regex(answer.headers.get("x-request-id") ?? "", /^req_/);
});

test("/healthz and /readyz require no key", async (t) => {
  t.deepEqual(JSON.parse((await request("/healthz", {})).text), { status: "ok" });
  const ready = await request("/readyz", {});
  t.is(ready.status, 200);
  t.deepEqual(JSON.parse(ready.text), { status: "ready" });
});

const vectors = [
  [0.5, -0.25, 1],
  [0.125, 2, -8],
];

async function addModel(
  t: Parameters<typeof createUpstream>[0],
  kind: "openai-compatible" | "gemini" | "azure-openai" | "bedrock",
  { name, path = "", upstreamModel = "embedder" }: { name: string; path?: string; upstreamModel?: string },
  answer: (request: SeenRequest) => { status?: number; body: unknown },
) {
  const upstream = await createUpstream(t, (request, response) => {
    const { status = 200, body } = answer(request);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  });
  const apiKey = kind === "bedrock" ? "bedrock-api-key-0123456789" : upstreamSecret;
  const settings = { name, kind, path, apiKey, upstreamModel, prices: { input: 0.02 } };
  const { model: slug, ...key } = await connectUpstream(gateway, upstream, settings);
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key.value, maxRetries: 0 });
  return { upstream, slug, key, client };
}

const openAiList = (request: SeenRequest) => {
  const { encoding_format: format } = JSON.parse(request.body) as { encoding_format?: string };
  const data = vectors.map((vector, index) => ({
    object: "embedding",
    index,
    embedding: format === "base64" ? Buffer.from(new Float32Array(vector).buffer).toString("base64") : vector,
  }));
  return { object: "list", data, model: "embedder-2", usage: { prompt_tokens: 7, total_tokens: 7 } };
};

for (const [kind, path, expectedUrl] of [
  ["openai-compatible", "/v1", "/v1/embeddings"],
  ["azure-openai", "", "/openai/v1/embeddings"],
  [
    "azure-openai",
    "?api-version=2024-10-21",
    "/openai/deployments/embedder/embeddings?api-version=2024-10-21",
  ],
] as const) {
  test(`${kind}${path}: the client's bytes pass with the model replaced`, async (t) => {
    const name = `native${expectedUrl.length}`;
    const { client, slug, key, upstream } = await addModel(t, kind, { name, path }, (request) => ({
      body: openAiList(request),
    }));
    const { data, model, usage } = await client.embeddings.create({ model: slug, input: ["one", "two"] });
    t.deepEqual(
      data.map(({ embedding }) => embedding),
      vectors,
    );
    t.is(model, slug);
    t.deepEqual(usage, { prompt_tokens: 7, total_tokens: 7 });
    t.is(upstream.requests[0]?.url, expectedUrl);
    t.like(JSON.parse(upstream.requests[0]?.body ?? ""), { model: "embedder", input: ["one", "two"] });

    const [record] = await usageOf(gateway, key.id);
    // 7 tokens at $0.02 a million cost 140 nano-dollars. Embeddings have no output price.
    t.like(record, { endpoint: "embeddings", inputTokens: 7, outputTokens: 0, cost: 140, stream: false });
  });
}

test("gemini: texts are embedded in one request, and the SDK receives floats", async (t) => {
  const { client, slug, upstream } = await addModel(t, "gemini", { name: "gem", path: "/v1beta" }, () => ({
    body: { embeddings: vectors.map((values) => ({ values })) },
  }));
  const { data } = await client.embeddings.create({ model: slug, input: ["one", "two"], dimensions: 3 });
  t.deepEqual(
    data.map(({ embedding, index }) => [index, embedding]),
    vectors.map((vector, index) => [index, vector]),
  );
  t.is(upstream.requests[0]?.url, "/v1beta/models/embedder:batchEmbedContents");
  const input = ["one", "two"];
  const asFloats = await client.embeddings.create({ model: slug, input, encoding_format: "float" });
  t.deepEqual(asFloats.data[0]?.embedding, vectors[0]);
});

test("bedrock: Titan accepts one text per request and reports it", async (t) => {
  const upstreamModel = "amazon.titan-embed-text-v2:0";
  const { client, slug, key, upstream } = await addModel(
    t,
    "bedrock",
    { name: "bed", upstreamModel },
    () => ({
      body: { embedding: vectors[0], inputTextTokenCount: 3 },
    }),
  );
  const { data, usage } = await client.embeddings.create({ model: slug, input: "one" });
  t.deepEqual(data[0]?.embedding, vectors[0]);
  t.is(usage.prompt_tokens, 3);
  t.is(upstream.requests[0]?.url, "/model/amazon.titan-embed-text-v2%3A0/invoke");
  const error = await t.throwsAsync(client.embeddings.create({ model: slug, input: ["one", "two"] }), {
    instanceOf: OpenAI.BadRequestError,
  });
  t.is(error?.param, "input");
  t.is((await usageOf(gateway, key.id)).length, 2);
});

test("a response without embeddings is an upstream error", async (t) => {
  for (const [index, body] of [{}, [], { data: 5 }, { choices: [] }].entries()) {
    const name = `wrong${index}`;
    const { client, slug } = await addModel(t, "openai-compatible", { name, path: "/v1" }, () => ({ body }));
    const failure = client.embeddings.create({ model: slug, input: "one" });
    const error = await t.throwsAsync(failure, { instanceOf: OpenAI.InternalServerError });
    t.is(error?.code, "upstream_error");
  }
});

test("fewer embeddings than texts are an upstream error", async (t) => {
  const { client, slug } = await addModel(t, "gemini", { name: "few", path: "/v1beta" }, () => ({
    body: { embeddings: [{ values: vectors[0] }] },
  }));
  const failure = client.embeddings.create({ model: slug, input: ["one", "two"] });
  const error = await t.throwsAsync(failure, { instanceOf: OpenAI.InternalServerError });
  t.regex(error?.message ?? "", /missing an embedding for some inputs/);
});

const postEmbeddings = (keyValue: string, body: unknown) =>
  postTo(gateway, "/v1/embeddings", { authorization: `Bearer ${keyValue}` }, body);

for (const [what, body, { param, code }] of [
  ["no model", { input: "x" }, { param: "model", code: "missing_required_parameter" }],
  ["no input", { model: "demo/echo" }, { param: "input", code: "missing_required_parameter" }],
  ["an input of nothing", { model: "demo/echo", input: [] }, { param: "input", code: "invalid_value" }],
  ["an input of objects", { model: "demo/echo", input: [{}] }, { param: "input", code: "invalid_type" }],
  ["a number as input", { model: "demo/echo", input: 5 }, { param: "input", code: "invalid_type" }],
  [
    "an unknown encoding",
    { model: "demo/echo", input: "x", encoding_format: "hex" },
    { param: "encoding_format", code: "invalid_value" },
  ],
  [
    "no dimensions",
    { model: "demo/echo", input: "x", dimensions: 0 },
    { param: "dimensions", code: "invalid_value" },
  ],
  ["a model that makes none", { model: "demo/echo", input: "x" }, { param: "model", code: "invalid_value" }],
  ["a body that is no JSON", "{", { param: null, code: null }],
] as const) {
  test(`a request with ${what} is rejected`, async (t) => {
    const key = await createKey(gateway);
    assertError(t, await postEmbeddings(key.value, body), clientError(400, code, param));
  });
}

test("an unconnected model is not found", async (t) => {
  const key = await createKey(gateway);
  const answer = await postEmbeddings(key.value, { model: "other/model", input: "x" });
  assertError(t, answer, clientError(404, "model_not_found", "model"));
});

test("a duplicated model cannot bypass the check", async (t) => {
  const { slug, key, upstream } = await addModel(
    t,
    "openai-compatible",
    { name: "twice", path: "/v1" },
    (request) => ({
      body: openAiList(request),
    }),
  );
  const { status } = await postEmbeddings(key.value, `{"model":"expensive","input":"x","model":"${slug}"}`);
  t.is(status, 200);
  t.is(upstream.requests[0]?.body, '{"model":"embedder","input":"x"}');
});

import test from "ava";
import OpenAI from "openai";
import { assertError, clientError } from "../helpers/assert-error.ts";
import { createUpstream, type SeenRequest } from "../helpers/scripted-upstream.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { createKey, usageOf } from "../helpers/test-gateway.ts";

const gateway = shareGateway();
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
  const provider = await gateway().admin.providers.create.mutate({
    name,
    kind,
    baseUrl: `${upstream.url}${path}`,
    apiKey: kind === "bedrock" ? "bedrock-api-key-0123456789" : "upstream-secret-0123456789",
  });
  const slug = `${name}/embedder`;
  const prices = { input: 0.02 };
  await gateway().admin.models.create.mutate({ slug, providerId: provider.id, upstreamModel, prices });
  const key = await createKey(gateway(), [slug]);
  const client = new OpenAI({ baseURL: `${gateway().url}/v1`, apiKey: key.value, maxRetries: 0 });
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

    const [record] = await usageOf(gateway(), key.id);
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
  t.is((await usageOf(gateway(), key.id)).length, 2);
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

const post = async (keyValue: string, body: unknown) => {
  const response = await fetch(`${gateway().url}/v1/embeddings`, {
    method: "POST",
    headers: { authorization: `Bearer ${keyValue}`, "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

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
    const key = await createKey(gateway());
    assertError(t, await post(key.value, body), clientError(400, code, param));
  });
}

test("an unconnected model is not found", async (t) => {
  const key = await createKey(gateway());
  const answer = await post(key.value, { model: "other/model", input: "x" });
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
  const { status } = await post(key.value, `{"model":"expensive","input":"x","model":"${slug}"}`);
  t.is(status, 200);
  t.is(upstream.requests[0]?.body, '{"model":"embedder","input":"x"}');
});

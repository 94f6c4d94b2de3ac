import test from "ava";
import { assertError, clientError } from "../helpers/assert-error.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { type Answer, chatBody } from "../helpers/post-chat.ts";
import { createUpstream, type ScriptedUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

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
  for (const path of ["/v1/v1/chat/completions", "/chat/completions", "/v1/chat/completions?beta=true"]) {
    const { answer } = await post(path, { authorization: `Bearer ${key.value}` }, `by ${path}`);
    t.is(answer.status, 200, path);
  }
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

test("a foreign key alone is an invalid key in any header", async (t) => {
  const wrong = clientError(401, "invalid_api_key");
  assertError(t, await request("/v1/models", { authorization: `Bearer ${foreign}` }), wrong);
  assertError(t, await request("/v1/models", { "x-api-key": foreign }), wrong);
});

test("/healthz and /readyz require no key", async (t) => {
  t.deepEqual(JSON.parse((await request("/healthz", {})).text), { status: "ok" });
  const ready = await request("/readyz", {});
  t.is(ready.status, 200);
  t.deepEqual(JSON.parse(ready.text), { status: "ready" });
});

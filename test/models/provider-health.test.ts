import type { ServerResponse } from "node:http";
import test from "ava";
import { createId } from "../../gateway/ids.ts";
import { addModel, answersWith, askModel } from "../helpers/add-model.ts";
import { hangMs } from "../helpers/eventually.ts";
import { freePort } from "../helpers/free-port.ts";
import { usageRow } from "../helpers/open-test-database.ts";
import { createUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";
import { GatewayError } from "../../gateway/errors.ts";
import { explainRefusal } from "../../gateway/models/test-provider.ts";
import { explainFailure } from "../../gateway/upstream/upstream-failure.ts";

const shared = shareGateway();

async function healthOf({ admin }: TestGateway, id: string) {
  const health = (await admin.providers.health.query()).find((provider) => provider.id === id);
  if (!health) throw new Error("Every provider has a line");
  return health;
}

test("a provider is unused, healthy, cooling down and healthy again", async (t) => {
  let aheadMs = 0;
  const now = () => Date.now() + aheadMs;
  const gateway = await startTestGateway(t, { runtime: { now } });
  let isLimited = false;
  const model = await addModel(t, gateway, (response) =>
    (isLimited ? answersWith(429, { "retry-after": "30" }) : sendCompletion)(response),
  );
  const id = model.providerId;
  t.like(await healthOf(gateway, id), { state: "unused", since: null, requestCount: 0 });

  await askModel(gateway, model.slug);
  const well = await healthOf(gateway, id);
  t.like(well, { state: "ok", lastErrorCode: null, lastErrorReason: null });
  t.like(well, { requestCount: 1, failureCount: 0, until: null });
  t.true(Math.abs(Date.parse(well.since ?? "") - now()) < 60_000);

  isLimited = true;
  await askModel(gateway, model.slug);
  const cooling = await healthOf(gateway, id);
  t.like(cooling, { state: "cooling_down", requestCount: 2, failureCount: 1 });
  t.like(cooling, { lastErrorCode: "http_429", lastErrorReason: "http_429" });
  const leftMs = Date.parse(cooling.until ?? "") - now();
  t.true(leftMs > 0 && leftMs <= 30_000, String(leftMs));
  t.is(cooling.credentials[0]?.coolingDownUntil, cooling.until);

  aheadMs += 31_000;
  t.like(await healthOf(gateway, id), { state: "failing", until: null, lastErrorReason: "http_429" });
  isLimited = false;
  await askModel(gateway, model.slug);
  t.like(await healthOf(gateway, id), { state: "ok", requestCount: 3, failureCount: 1 });
});

test("an unreachable provider reports why, during and after its cool-down", async (t) => {
  let aheadMs = 0;
  const gateway = await startTestGateway(t, { runtime: { now: () => Date.now() + aheadMs } });
  const model = await addModel(t, gateway, { url: `http://127.0.0.1:${await freePort()}` });
  await askModel(gateway, model.slug);
  const why = { lastErrorCode: "upstream_error", lastErrorReason: "connection_refused" };
  const cooling = await healthOf(gateway, model.providerId);
  t.like(cooling, { state: "cooling_down", ...why });
  t.like(cooling.credentials[0], why);
  aheadMs += hangMs;
  t.like(await healthOf(gateway, model.providerId), { state: "failing", ...why });
});

test("a failing provider reports its first failure and codes, no messages", async (t) => {
  const gateway = shared();
  const { database, runtime } = gateway.services;
  const { id } = await gateway.admin.providers.create.mutate({ name: "shaky", kind: "demo" });
  const now = Date.now();
  const add = async (minutesAgo: number, more: Parameters<typeof usageRow>[1]) => {
    const createdAt = new Date(now - minutesAgo * 60_000);
    const recordId = createId("req", { ...runtime, now: () => createdAt.getTime() });
    const record = usageRow(recordId, { provider: "shaky", createdAt, ...more });
    await database.write(({ usageRecords }) => usageRecords.insertAll([record]));
  };
  const failed = { status: "FAILED", httpStatus: 502, errorCode: "upstream_error" } as const;
  await add(90, failed);
  t.like(await healthOf(gateway, id), { state: "unused" }, "longer ago than an hour");
  await add(30, { status: "SUCCEEDED" });
  await add(20, failed);
  await add(15, { status: "CANCELLED", httpStatus: 499 });
  await add(10, { ...failed, httpStatus: 200, errorCode: "sk-canary 0123456789" });
  const failing = await healthOf(gateway, id);
  t.like(failing, { state: "failing", since: new Date(now - 20 * 60_000).toISOString() });
  t.like(failing, { lastErrorCode: "http_200", requestCount: 4, failureCount: 2 });
  t.false(JSON.stringify(failing).includes("canary"));

  await add(5, { status: "FAILED", httpStatus: 400, errorCode: "invalid_value" });
  t.like(await healthOf(gateway, id), { state: "ok" }, "it refused a request for the request's own sake");
});

test("a provider without its required credential reports it", async (t) => {
  const { providers } = shared().admin;
  const states: Record<string, string> = {};
  for (const [name, provider] of Object.entries({
    openai: { kind: "openai-compatible", preset: "openai" },
    ollama: { kind: "openai-compatible", preset: "ollama" },
    custom: { kind: "openai-compatible", baseUrl: "https://api.example.com/v1" },
    anthropic: { kind: "anthropic" },
    local: { kind: "demo" },
  } as const)) {
    const { id } = await providers.create.mutate({ name, ...provider });
    states[name] = (await healthOf(shared(), id)).state;
  }
  t.deepEqual(states, {
    openai: "no_credential",
    ollama: "unused",
    custom: "unused",
    anthropic: "no_credential",
    local: "unused",
  });
});

function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

test("a status with a special meaning is reported by its meaning", async (t) => {
  const details = [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }];
  const upstream = await createUpstream(t, (_request, response) =>
    sendJson(response, { error: { code: 400, message: "API key not valid.", details } }, 400),
  );
  const { providers } = shared().admin;
  const { id } = await providers.create.mutate({
    name: "gemini-verdict",
    kind: "gemini",
    preset: "gemini",
    baseUrl: upstream.url,
    apiKey: "a-key-0123456789",
  });
  t.is(
    (await providers.test.mutate({ id })).message,
    "The provider rejected the key (HTTP status 401). Check the key.",
  );
});

test("an upstream with signed requests receives a signature", async (t) => {
  const upstream = await createUpstream(t, (_request, response) =>
    sendJson(response, { modelSummaries: [] }),
  );
  const { providers } = shared().admin;
  const { id } = await providers.create.mutate({
    name: "bedrock-verdict",
    kind: "bedrock",
    baseUrl: `${upstream.url}/?region=eu-west-1`,
    apiKey: "AKIA0123456789ABCDEF:secret-0123456789",
  });
  t.true((await providers.test.mutate({ id })).ok);
  t.regex(
    upstream.requests[0]?.headers.authorization ?? "",
    /^AWS4-HMAC-SHA256 Credential=AKIA0123456789ABCDEF\/\d{8}\/eu-west-1\/bedrock\//,
  );
});

test("values that a kind does not accept are rejected on input", async (t) => {
  const { providers } = shared().admin;
  const bedrock = { kind: "bedrock", baseUrl: "https://bedrock-runtime.eu-west-1.amazonaws.com" } as const;
  const creation = providers.create.mutate({ name: "refused", ...bedrock, apiKey: "a:b:c:d" });
  t.like(await t.throwsAsync(creation), { data: { code: "BAD_REQUEST", param: "apiKey" } });
  const { id } = await providers.create.mutate({ name: "bedrock-empty", ...bedrock });
  const addition = providers.addCredential.mutate({ id, apiKey: "a::b" });
  t.like(await t.throwsAsync(addition), { data: { code: "BAD_REQUEST", param: "apiKey" } });
  const nowhere = providers.create.mutate({
    name: "azure-refused",
    kind: "azure-openai",
    preset: "azure-openai",
  });
  t.like(await t.throwsAsync(nowhere), { data: { code: "BAD_REQUEST", param: "baseUrl" } });
});

test("a built-in provider needs no network", async (t) => {
  const { providers } = shared().admin;
  const [demo] = (await providers.list.query()).filter(({ kind }) => kind === "demo");
  const { ok, message, credentials } = await providers.test.mutate({ id: demo?.id ?? "" });
  t.deepEqual(
    { ok, message, credentials },
    { ok: true, message: "Built in: no connection needed.", credentials: [] },
  );
});

function failure(code: string): GatewayError {
  const cause = Object.assign(new Error(code), { code });
  return new GatewayError("upstream_error", "The call failed.", {
    cause: new TypeError("failed", { cause }),
  });
}

for (const [code, words] of [
  ["ENOTFOUND", /The host api\.example\.com was not found\. Check the base URL\./],
  ["EAI_AGAIN", /could not be resolved/],
  ["ECONNREFUSED", /api\.example\.com:443 was refused/],
  ["EPRIVATEADDRESS", /add api\.example\.com:443 to UPSTREAM_PRIVATE_HOSTS, and restart/],
  ["ETIMEDOUT", /The connection to api\.example\.com:443 timed out/],
  ["ECONNRESET", /closed the connection/],
  ["CERT_HAS_EXPIRED", /certificate of api\.example\.com has expired/],
  ["ERR_TLS_CERT_ALTNAME_INVALID", /is for another host/],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", /is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\)/],
  ["SELF_SIGNED_CERT_IN_CHAIN", /is not trusted/],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", /is not trusted/],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", /is not trusted/],
  ["ERR_SSL_WRONG_VERSION_NUMBER", /does not speak TLS\. Check whether the URL should start with http:\/\//],
  ["ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", /The TLS connection .* failed/],
  ["EBROKENOFF", /closed the connection/],
  ["EBADANSWER", /does not speak HTTP/],
] as const) {
  test(`${code} is explained`, (t) => {
    t.regex(explainFailure(failure(code), "https://api.example.com"), words);
  });
}

test("of several addresses, the first failure is explained", (t) => {
  const errors = ["ECONNREFUSED", "EHOSTUNREACH"].map((code) => Object.assign(new Error(code), { code }));
  const error = new GatewayError("upstream_error", "The call failed.", { cause: new AggregateError(errors) });
  t.regex(explainFailure(error, "http://localhost:11434"), /localhost:11434 was refused/);
});

test("an unknown error keeps its original message", (t) => {
  t.is(explainFailure(failure("EWHATEVER"), "http://localhost:1"), "The call failed.");
  t.is(explainFailure(new GatewayError("upstream_timeout", "Too slow."), "http://localhost:1"), "Too slow.");
});

const secret = "sk-secret-0123456789-ABCD";
const path = "/v1/models";

function explain(status: number, body: unknown = null, withSecret: string | null = secret): string {
  return explainRefusal(status, body, { path, secret: withSecret });
}

for (const [status, words] of [
  [
    301,
    /The provider returned a redirect \(HTTP status 301\), which the gateway does not follow\. Check the base URL\./,
  ],
  [400, /The provider returned HTTP status 400 for \/v1\/models\./],
  [401, /The provider rejected the key \(HTTP status 401\)\./],
  [402, /the account has insufficient funds \(HTTP status 402\)\./],
  [403, /The provider rejected the key \(HTTP status 403\)\./],
  [404, /\/v1\/models does not exist \(HTTP status 404\)\. Check the base URL/],
  [405, /\/v1\/models does not exist \(HTTP status 405\)/],
  [429, /its rate limit is reached \(HTTP status 429\)\./],
  [500, /The provider failed \(HTTP status 500\)\./],
  [529, /The provider failed \(HTTP status 529\)\./],
] as const) {
  test(`status ${status} is explained`, (t) => {
    t.regex(explain(status), words);
  });
}

test("without a configured key, a refusal reports a missing key", (t) => {
  t.regex(explain(401, null, null), /The provider requires a key \(HTTP status 401\)\./);
});

test("a short plain message of the upstream is repeated", (t) => {
  const says = "The provider failed (HTTP status 503: The engine is overloaded). Retry later.";
  for (const body of [
    { error: { message: "The engine is overloaded" } },
    { error: "The engine is overloaded" },
    { message: "  The engine is overloaded\n" },
    { detail: "The engine is overloaded" },
    { error: { message: 7 }, message: "The engine is overloaded" },
  ]) {
    t.is(explain(503, body), says, JSON.stringify(body));
  }
});

test("a long, missing or formatted message of the upstream is not repeated", (t) => {
  const plain = explain(503);
  for (const message of [
    "x".repeat(201),
    "",
    "   ",
    "two\nlines",
    "\u001b[31mred",
    "<b>bold</b>",
    42,
    null,
    { nested: "text" },
  ]) {
    t.is(explain(503, { error: { message } }), plain, JSON.stringify(message));
  }
  for (const body of [null, [], "text", 5, { error: null }]) t.is(explain(503, body), plain);
});

test("a message with any part of a secret is not repeated", (t) => {
  const plain = explain(400);
  for (const message of [
    `Bad key: ${secret}`,
    "Bad key: sk-s***************ABCD",
    "Bad key: …ABCD",
    "Bad key: sk-secret…",
    `Bad key: ${secret.slice(5, 12)}`,
  ]) {
    t.is(explain(400, { error: { message } }), plain, message);
  }
  t.regex(explain(400, { error: { message: "Bad region." } }), / for \/v1\/models: Bad region\. Check /);
  t.is(explain(400, { message: "no ab here" }, "ab"), plain, "a short secret too");
});

import type { ServerResponse } from "node:http";
import test, { type ExecutionContext } from "ava";
import { freePort } from "../helpers/free-port.ts";
import { createUpstream, type SeenRequest } from "../helpers/scripted-upstream.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

const shared = shareGateway();
let names = 0;

const apiKey = "sk-verdict-0123456789-ABCD";

async function addProvider(baseUrl: string, apiKeys: string[] = [apiKey]) {
  const { providers } = shared().admin;
  const name = `verdict-${names++}`;
  const { id } = await providers.create.mutate({ name, kind: "openai-compatible", baseUrl });
  for (const each of apiKeys) await providers.addCredential.mutate({ id, apiKey: each });
  return { id, name };
}

async function verdictOn(
  t: ExecutionContext,
  script: (response: ServerResponse, request: SeenRequest) => void,
) {
  const upstream = await createUpstream(t, (request, response) => script(response, request));
  const { id } = await addProvider(`${upstream.url}/v1`);
  const { credentials, ...verdict } = await shared().admin.providers.test.mutate({ id });
  return { ...verdict, credentials, upstream, id };
}

function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

const list = { object: "list", data: ["one", "two"].map((id) => ({ id, object: "model" })) };

test("a working upstream is reported with its duration and models", async (t) => {
  const { ok, message, modelCount, latencyMs, credentials, upstream } = await verdictOn(t, (response) =>
    sendJson(response, list),
  );
  t.true(ok);
  t.regex(message, /^Responded in \d+ ms, 2 models\.$/);
  t.is(modelCount, 2);
  t.true(latencyMs >= 0);
  t.like(credentials, [{ ok: true, message, lastFour: "ABCD", modelCount: 2 }]);
  t.like(upstream.requests, [{ method: "GET", url: "/v1/models" }]);
});

test("the model count is singular for one and zero for none", async (t) => {
  const one = await verdictOn(t, (response) => sendJson(response, { data: [{ id: "one" }] }));
  t.regex(one.message, /, 1 model\.$/);
  const none = await verdictOn(t, (response) => sendJson(response, { data: [] }));
  t.like(none, { ok: true, modelCount: 0 });
});

for (const [what, script, words] of [
  [
    "a refused key",
    (response) => sendJson(response, { error: { message: `Incorrect API key: ${apiKey}` } }, 401),
    /^The provider rejected the key \(HTTP status 401\)\. Check the key\.$/,
  ],
  [
    "a web page",
    (response) => response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><h1>Hi</h1>"),
    /is a web page\. Check the base URL\.$/,
  ],
  [
    "a web page that says it is JSON",
    (response) =>
      response.writeHead(200, { "content-type": "application/json" }).end("\n<html><h1>Hi</h1></html>"),
    /is a web page\. Check the base URL\.$/,
  ],
  ["JSON that is no list", (response) => sendJson(response, { status: "ok" }), /is not a model list/],
  ["null", (response) => sendJson(response, null), /is not a model list/],
  ["no JSON", (response) => response.end("Ollama is running"), /is not a model list/],
  ["nothing", (response) => response.end(), /is not a model list/],
  [
    "an outage",
    (response) => sendJson(response, { error: { message: "Back at noon." } }, 503),
    /^The provider failed \(HTTP status 503: Back at noon\)\. Retry later\.$/,
  ],
  [
    "a refusal that quotes the key",
    (response) => sendJson(response, { error: { message: "No such project for sk-ver***ABCD." } }, 400),
    /^The provider returned HTTP status 400 for \/v1\/models\. Check the base URL and the key\.$/,
  ],
  ["a broken connection", (response) => response.destroy(), /closed the connection/],
] as [string, (response: ServerResponse) => void, RegExp][]) {
  test(`${what} is reported in words, without the key`, async (t) => {
    const { ok, message, modelCount, credentials, id } = await verdictOn(t, script);
    t.false(ok);
    t.regex(message, words);
    t.is(modelCount, 0);
    t.false(JSON.stringify({ message, credentials }).includes("sk-ver"));

    const error = await t.throwsAsync(shared().admin.providers.discoverModels.query({ id }));
    t.like(error, { data: { code: "BAD_GATEWAY", param: "id" } });
    t.regex(error?.message ?? "", words);
  });
}

test("a missing but required key is reported", async (t) => {
  const upstream = await createUpstream(t, (_request, response) => sendJson(response, {}, 401));
  const { id } = await addProvider(upstream.url, []);
  const verdict = await shared().admin.providers.test.mutate({ id });
  t.like(verdict, {
    ok: false,
    message: "The provider requires a key (HTTP status 401). Add a key.",
    credentials: [],
  });
  t.is(upstream.requests[0]?.headers.authorization, undefined);
});

test("a closed port and an unknown host are reported", async (t) => {
  const messageFor = async (baseUrl: string) => {
    const { id } = await addProvider(baseUrl);
    return (await shared().admin.providers.test.mutate({ id })).message;
  };
  const closed = await createUpstream(t, () => {});
  const { port } = new URL(closed.url);
  const free = await freePort();
  const refused = new RegExp(`^The connection to 127\\.0\\.0\\.1:${free} was refused\\. Check the base URL`);
  t.regex(await messageFor(`http://127.0.0.1:${free}/v1`), refused);
  const unknown = /^The host nowhere\.invalid (was not found|could not be resolved)/;
  t.regex(await messageFor("https://nowhere.invalid/v1"), unknown);
  const plain = `127\\.0\\.0\\.1:${port} does not speak TLS\\. Check whether the URL should start with http://`;
  t.regex(await messageFor(`https://127.0.0.1:${port}/v1`), new RegExp(plain));
});

test("a private address is rejected with the setting that allows it", async (t) => {
  const upstream = await createUpstream(t, (_request, response) => sendJson(response, list));
  const { host } = new URL(upstream.url);
  const first = await startTestGateway(t, { environment: { UPSTREAM_PRIVATE_HOSTS: host } });
  const { id } = await first.admin.providers.create.mutate({
    name: "private",
    kind: "openai-compatible",
    baseUrl: `${upstream.url}/v1`,
  });
  t.true((await first.admin.providers.test.mutate({ id })).ok);

  const { DATABASE_URL = "", DATA_DIR = "" } = first.environment;
  const stricter = await startTestGateway(t, {
    environment: { DATABASE_URL, DATA_DIR, UPSTREAM_PRIVATE_HOSTS: "" },
  });
  const verdict = await stricter.admin.providers.test.mutate({ id });
  t.true(
    verdict.message?.startsWith(
      `${host} is a private address. To allow it, add ${host} to UPSTREAM_PRIVATE_HOSTS, and restart the gateway`,
    ),
  );
  t.is(upstream.requests.length, 1);
});

test("each key is tested, and the summary counts the working ones", async (t) => {
  const upstream = await createUpstream(t, ({ headers }, response) =>
    headers.authorization?.includes("good") ? sendJson(response, list) : sendJson(response, {}, 401),
  );
  const { admin } = shared();
  const { id } = await addProvider(upstream.url, ["sk-good-0123456789-AAAA", "sk-bad-0123456789-BBBB"]);
  const mixed = await admin.providers.test.mutate({ id });
  const verdicts = mixed.credentials.map(({ lastFour, ok }) => [lastFour, ok]);
  t.deepEqual(verdicts, [
    ["AAAA", true],
    ["BBBB", false],
  ]);
  t.like(mixed, {
    ok: false,
    modelCount: 2,
    message: "1 of 2 keys failed (…BBBB): The provider rejected the key (HTTP status 401). Check the key.",
  });

  const [, bad] = mixed.credentials;
  await admin.providers.removeCredential.mutate({ id, credentialId: bad?.id ?? "" });
  await admin.providers.addCredential.mutate({ id, apiKey: "sk-good-0123456789-CCCC" });
  const good = await admin.providers.test.mutate({ id });
  t.true(good.ok);
  t.regex(good.message, /^(All 2 keys work\. )?Responded in \d+ ms, 2 models\.$/);
});

test("models are discovered with the first working key", async (t) => {
  const upstream = await createUpstream(t, ({ headers }, response) =>
    headers.authorization?.includes("good") ? sendJson(response, list) : sendJson(response, {}, 401),
  );
  const { id } = await addProvider(`${upstream.url}/v1`, [
    "sk-bad-0123456789",
    "sk-good-0123456789",
    "sk-unused-0123456789",
  ]);
  const { models } = await shared().admin.providers.discoverModels.query({ id });
  const names = models.map(({ upstreamModel }) => upstreamModel);
  t.deepEqual(names, ["one", "two"]);
  t.is(upstream.requests.length, 2);
});

for (const [kind, versionPath, names] of [
  ["openai-compatible", "/v1", list],
  ["anthropic", "/v1", list],
  ["gemini", "/v1beta", { models: [] }],
] as const) {
  for (const [what, script] of [
    ["nothing", (response) => sendJson(response, {}, 404)],
    ["a web page", (response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>")],
  ] satisfies [string, (response: ServerResponse) => void][]) {
    test(`${kind}: a base URL that leads to ${what} without ${versionPath} is refused`, async (t) => {
      const upstream = await createUpstream(t, ({ url }, response) =>
        url.startsWith(`${versionPath}/models`) ? sendJson(response, names) : script(response),
      );
      const { providers } = shared().admin;

      const settings = { name: `lacks-${kind}-${what.length}`, kind, apiKey };
      const error = await t.throwsAsync(providers.create.mutate({ ...settings, baseUrl: upstream.url }));
      t.like(error, { data: { code: "BAD_REQUEST", param: "baseUrl" } });
      t.is(error?.message, `The base URL lacks ${versionPath}. Add ${versionPath} to the base URL.`);

      const { id } = await providers.create.mutate({ ...settings, baseUrl: `${upstream.url}${versionPath}` });
      t.true((await providers.test.mutate({ id })).ok);
      await providers.update.mutate({ id, baseUrl: `${upstream.url}/` });
      const { ok, message } = await providers.test.mutate({ id });
      t.false(ok);
      t.regex(message, new RegExp(`^/models\\S* does not exist\\. Add ${versionPath} to the base URL\\.$`));
    });
  }
}

test("a base URL without a path is accepted where /v1 brings nothing", async (t) => {
  const upstream = await createUpstream(t, (_request, response) => sendJson(response, {}, 404));
  const gone = `http://127.0.0.1:${await freePort()}`;
  for (const baseUrl of [upstream.url, gone]) {
    const { id } = await addProvider(baseUrl);
    t.false((await shared().admin.providers.test.mutate({ id })).ok);
  }
});

test("a key that is refused only below /v1 shows that the path is missing", async (t) => {
  const upstream = await createUpstream(t, ({ url }, response) =>
    sendJson(response, { error: { message: "No." } }, url === "/v1/models" ? 401 : 404),
  );
  const error = await t.throwsAsync(addProvider(upstream.url));
  t.regex(error?.message ?? "", /Add \/v1 to the base URL/);
});

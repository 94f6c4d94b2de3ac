import test from "ava";
import { generateKeyValue } from "../../gateway/keys/key-value.ts";
import { createLog } from "../../gateway/log.ts";
import { systemRuntime } from "../../gateway/runtime.ts";
import { assertError, clientError, type ErrorRow, serverError } from "../helpers/assert-error.ts";
import { type Answer, chatBody, postChat } from "../helpers/post-chat.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

// These tests cover the gateway's own errors. `upstream-errors.test.ts` covers upstream failures.
const shared = sharedByFile();
const bodyBytesMax = 10_000;
/** Advances the gateway's clock, so that a key expires at once. */
let clockAheadMs = 0;
let gateway: TestGateway;
let key: { id: string; value: string };
let expired: string;

test.before(async () => {
  gateway = await startTestGateway(shared, {
    environment: { REQUEST_BODY_BYTES_MAX: String(bodyBytesMax) },
    runtime: { now: () => Date.now() + clockAheadMs },
  });
  key = await createKey(gateway);
  const expiresAt = new Date(Date.now() + 60_000).toISOString();
  expired = (await gateway.admin.keys.create.mutate({ name: "Short", models: ["demo/echo"], expiresAt }))
    .value;
  await postChat(gateway, expired, chatBody("demo/echo"));
  clockAheadMs = 120_000;
});

async function send(method: string, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(gateway.url + path, { method, headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const withoutKey: Record<string, string>[] = [
  {},
  { authorization: "Bearer" },
  { authorization: "Basic dXNlcjpwYXNz" },
  { "x-api-key": "" },
];
for (const headers of withoutKey) {
  test(`a missing key is reported: ${JSON.stringify(headers)}`, async (t) => {
    const message = assertError(t, await send("GET", "/v1/models", headers), clientError(401, null));
    t.regex(message, /Authorization: Bearer/);
  });
}

test("all invalid keys receive the same response, whatever the reason", async (t) => {
  const known = generateKeyValue(systemRuntime(createLog("silent", { write() {} })));
  const deleted = await createKey(gateway);
  const disabled = await createKey(gateway);
  for (const { value } of [deleted, disabled]) {
    // This request puts the key into the cache.
    t.is((await postChat(gateway, value, chatBody("demo/echo"))).status, 200);
  }
  await gateway.admin.keys.delete.mutate({ id: deleted.id });
  await gateway.admin.keys.deactivate.mutate({ id: disabled.id });

  const messages = new Set<string>();
  for (const value of [
    known,
    `${key.value.slice(0, -1)}${key.value.endsWith("0") ? "1" : "0"}`,
    "sk-proj-somebody-elses",
    deleted.value,
    disabled.value,
    expired,
  ]) {
    const answer = await postChat(gateway, value, chatBody("demo/echo"));
    messages.add(assertError(t, answer, clientError(401, "invalid_api_key")));
    t.notRegex(answer.text, new RegExp(value.slice(11)), "the value is not repeated");
  }
  t.is(messages.size, 1);
  for (const cause of ["mistyped", "deactivated", "expired", "deleted", "ask the administrator"]) {
    t.true(
      [...messages][0]?.includes(cause),
      `whose key was right is not sent to look for a typing error: ${cause}`,
    );
  }
});

test("a deactivated key works again once activated", async (t) => {
  const { id, value } = await createKey(gateway);
  await gateway.admin.keys.deactivate.mutate({ id });
  t.is((await postChat(gateway, value, chatBody("demo/echo"))).status, 401);
  await gateway.admin.keys.activate.mutate({ id });
  t.is((await postChat(gateway, value, chatBody("demo/echo"))).status, 200);
});

test("missing and unconnected models receive the same response", async (t) => {
  const unconnected = await createKey(gateway, []);
  const row = clientError(404, "model_not_found", "model");

  const hidden = assertError(t, await postChat(gateway, unconnected.value, chatBody("demo/echo")), row);
  const absent = assertError(t, await postChat(gateway, key.value, chatBody("demo/none")), row);
  const inDetail = await send("GET", "/v1/models/demo/echo", {
    authorization: `Bearer ${unconnected.value}`,
  });

  t.is(hidden, absent.replace("demo/none", "demo/echo"));
  t.is(assertError(t, inDetail, row), hidden);
});

test("a model without its provider is reported with the expected slug", async (t) => {
  const row = clientError(404, "model_not_found", "model");
  const bare = (name: string) => postChat(gateway, key.value, chatBody(name));
  t.regex(
    assertError(t, await bare("echo"), row),
    / connected to it\. Use `demo\/echo`, or another model from GET/,
  );
  t.regex(
    assertError(t, await bare("none"), row),
    /`none` does not exist .* `<provider>\/<model_name>` from GET/,
  );
  const unconnected = await createKey(gateway, []);
  const hidden = await postChat(gateway, unconnected.value, chatBody("echo"));
  t.notRegex(assertError(t, hidden, row), /demo/, "what a key may not use is not named");
});

for (const body of [
  "",
  " ",
  "{",
  "hello",
  '{"model":"demo/echo",}',
  "\u{feff}{}",
  "[]",
  '"text"',
  "null",
  "5",
]) {
  test(`a body that is not a JSON object is rejected: ${JSON.stringify(body)}`, async (t) => {
    assertError(t, await postChat(gateway, key.value, body), clientError(400, null));
  });
}

test("a body over the limit is rejected, one at the limit is not", async (t) => {
  const body = JSON.stringify(chatBody("demo/echo"));
  const atLimit = await postChat(gateway, key.value, body.padEnd(bodyBytesMax));
  t.is(atLimit.status, 200);
  const over = await postChat(gateway, key.value, body.padEnd(bodyBytesMax + 1));
  t.regex(assertError(t, over, clientError(413, "request_too_large")), /10000 bytes/);
});

for (const path of [
  "/v1",
  "/v1/",
  "/v1/nothing",
  "/v2/chat/completions",
  "/v1/chat/completions/more",
  "/v1/Models",
]) {
  test(`${path} is not found`, async (t) => {
    for (const method of ["GET", "POST"]) {
      assertError(t, await send(method, path), clientError(404, "unknown_url"));
    }
  });
}

const endpoints: [path: string, allowed: string, refused: string[]][] = [
  ["/v1/chat/completions", "POST", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"]],
  ["/v1/models", "GET", ["POST", "PUT", "DELETE", "OPTIONS"]],
  ["/v1/models/demo/echo", "GET", ["POST", "DELETE"]],
];
for (const [path, allow, methods] of endpoints) {
  test(`${path} allows ${allow} and reports it to other methods`, async (t) => {
    for (const method of methods) {
      const row: ErrorRow = { ...clientError(405, "method_not_allowed"), headers: { allow } };
      assertError(t, await send(method, path), row);
    }
  });
}

test("a request without permission leaves no usage record", async (t) => {
  const { id, value } = await createKey(gateway);
  await gateway.admin.keys.deactivate.mutate({ id });
  await postChat(gateway, value, chatBody("demo/echo"));
  t.deepEqual(await usageOf(gateway, id), []);
});

const unavailable = { ...serverError(503, "service_unavailable"), headers: { "retry-after": "1" } };

test("a frozen database serves known keys and calls no key invalid", async (t) => {
  const gateway = await startTestGateway(t, { environment: { DATABASE_TIMEOUT_MS: "4000" } });
  const known = await createKey(gateway);
  const unseen = await createKey(gateway);
  t.is((await postChat(gateway, known.value, chatBody("demo/echo"))).status, 200);

  const thaw = freeze(gateway);
  const answers = await Promise.all([
    postChat(gateway, known.value, chatBody("demo/echo")),
    postChat(gateway, unseen.value, chatBody("demo/echo")),
    postChat(gateway, generateKeyValue(gateway.services.runtime), chatBody("demo/echo")),
    fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${unseen.value}` } }),
    postChat(gateway, `${known.value.slice(0, -1)}!`, chatBody("demo/echo")),
    fetch(`${gateway.url}/readyz`),
  ]);
  thaw();

  t.is(answers[0].status, 200, "known");
  assertError(t, answers[1], unavailable);
  assertError(t, answers[2], unavailable);
  t.is(answers[3].status, 503);
  t.is(answers[4].status, 401, "what cannot be a key needs no database");
  t.is(answers[5].status, 200, "ready: known keys are served");

  t.is((await postChat(gateway, unseen.value, chatBody("demo/echo"))).status, 200, "after it");
  t.is((await usageOf(gateway, known.id)).length, 2, "no record is lost");
});

test("new requests are refused when usage can no longer be stored", async (t) => {
  const gateway = await startTestGateway(t, {
    environment: { DATABASE_TIMEOUT_MS: "4000", USAGE_SPOOL_BYTES_MAX: "1000" },
  });
  const key = await createKey(gateway);
  t.is((await postChat(gateway, key.value, chatBody("demo/echo"))).status, 200);
  await gateway.services.recorder.flush();

  const thaw = freeze(gateway);
  const statuses: number[] = [];
  for (let sent = 0; sent < 2; sent++) {
    statuses.push((await postChat(gateway, key.value, chatBody("demo/echo"))).status);
  }
  const refused = await postChat(gateway, key.value, chatBody("demo/echo"));
  thaw();

  t.deepEqual(statuses, [200, 200]);
  assertError(t, refused, { ...unavailable, headers: { "retry-after": "5" } });
  t.is((await usageOf(gateway, key.id)).length, 3);
  t.is((await postChat(gateway, key.value, chatBody("demo/echo"))).status, 200, "after it");
});

/** SQLite runs one operation at a time, so the pending read blocks all others, like a frozen server. */
function freeze({ services: { database } }: TestGateway): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  database.read(() => promise).catch(() => {});
  return resolve;
}

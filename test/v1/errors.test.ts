import { gzipSync } from "node:zlib";
import test from "ava";
import { generateKeyValue } from "../../gateway/keys/key-value.ts";
import { createLog } from "../../gateway/log.ts";
import { systemRuntime } from "../../gateway/runtime.ts";
import { assertError, clientError, type ErrorRow, serverError } from "../helpers/assert-error.ts";
import { chat, errorDialects } from "../helpers/client-dialects.ts";
import { type Answer, chatBody, postChat, postTo } from "../helpers/post-chat.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

// These tests cover the gateway's own errors. `upstream-errors.test.ts` covers upstream failures.
const shared = sharedByFile();
/** Advances the gateway's clock, so that a key expires at once. */
let clockAheadMs = 0;
let gateway: TestGateway;
let key: { id: string; value: string };
let expired: string;
/** Its database soon counts as unavailable. */
let impatient: TestGateway;
const bodyBytesMax = 10_000;

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
  impatient = await startTestGateway(shared, { environment: { DATABASE_TIMEOUT_MS: "15000" } });
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

test("an unconnected model is as missing in a request as in its details", async (t) => {
  const unconnected = await createKey(gateway, []);
  const row = clientError(404, "model_not_found", "model");

  const hidden = assertError(t, await postChat(gateway, unconnected.value, chatBody("demo/echo")), row);
  const inDetail = await send("GET", "/v1/models/demo/echo", {
    authorization: `Bearer ${unconnected.value}`,
  });

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
  const gateway = await startTestGateway(t, { environment: { DATABASE_TIMEOUT_MS: "15000" } });
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
    environment: { DATABASE_TIMEOUT_MS: "15000", USAGE_SPOOL_BYTES_MAX: "1000" },
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

const foreignKey = "sk-ant-api03-somebody-elses";

for (const dialect of errorDialects) {
  const path = `/v1/${dialect.name}`;
  const { body, conversation, assertError } = dialect;
  const send = (content: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    postTo(gateway, path, { authorization: `Bearer ${key.value}`, ...headers }, content);

  for (const headers of [{}, { authorization: "Basic dXNlcjpwYXNz" }, { "x-api-key": "" }]) {
    test(`${path}: a missing key is reported: ${JSON.stringify(headers)}`, async (t) => {
      const answer = await postTo(gateway, path, headers as Record<string, string>, body("demo/echo"));
      assertError(t, answer, clientError(401, null));
    });
  }

  test(`${path}: invalid and deactivated keys receive the same response`, async (t) => {
    const disabled = await createKey(gateway);
    await gateway.admin.keys.deactivate.mutate({ id: disabled.id });
    const values = [disabled.value, generateKeyValue(gateway.services.runtime), foreignKey, "' OR '1'='1"];
    const messages = new Set<string>();
    for (const value of values) {
      const answer = await postTo(gateway, path, { "x-api-key": value }, body("demo/echo"));
      messages.add(assertError(t, answer, clientError(401, "invalid_api_key")));
    }
    t.is(messages.size, 1);
  });

  test(`${path}: a key is accepted in either header, whatever the other contains`, async (t) => {
    for (const headers of [
      { "x-api-key": key.value },
      { "x-api-key": key.value, authorization: `Bearer ${foreignKey}` },
      { "x-api-key": key.value, authorization: "Basic dXNlcjpwYXNz" },
      { "x-api-key": foreignKey, authorization: `Bearer ${key.value}` },
      { "x-api-key": key.value, authorization: `Bearer ${key.value}` },
    ]) {
      const answer = await postTo(gateway, path, headers as Record<string, string>, body("demo/echo"));
      t.is(answer.status, 200, answer.text);
    }
  });

  test(`${path}: missing and unconnected models receive the same response`, async (t) => {
    const unconnected = await createKey(gateway, []);
    const row = clientError(404, "model_not_found", "model");
    const absent = assertError(t, await send(body("demo/none")), row);
    const hidden = await send(body("demo/echo"), { authorization: `Bearer ${unconnected.value}` });
    t.is(assertError(t, hidden, row), absent.replace("demo/none", "demo/echo"));
    const records = await usageOf(gateway, unconnected.id);
    t.like(records, [{ endpoint: dialect.name, status: "FAILED", httpStatus: hidden.status }]);
  });

  test(`${path}: an invalid slug is not found and not repeated`, async (t) => {
    for (const model of [
      "test/model evil",
      "test/model\n",
      "\u{1b}[31mtest/model",
      "test/mo\u{0}del",
      "test/\u{202e}model",
      "",
      "/",
      "a".repeat(5_000),
      "test/model' OR '1'='1",
      "../../etc/passwd",
    ]) {
      const message = assertError(t, await send(body(model)), clientError(404, "model_not_found", "model"));
      t.regex(message, /^[\x20-\x7e]{1,300}$/);
      t.true(model.length < 2 || !message.includes(model), message);
    }
  });

  for (const content of [
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
    test(`${path}: a body that is not a JSON object is rejected: ${JSON.stringify(content)}`, async (t) => {
      assertError(t, await send(content), clientError(400, null));
    });
  }

  const wrong: [changes: object, code: string, param: string][] = [
    [{ model: undefined }, "missing_required_parameter", "model"],
    [{ [conversation]: undefined }, "missing_required_parameter", conversation],
    [{ model: 5 }, "invalid_type", "model"],
    [{ model: null }, "invalid_type", "model"],
    [{ [conversation]: 5 }, "invalid_type", conversation],
    [{ [conversation]: { role: "user" } }, "invalid_type", conversation],
    [{ [conversation]: [null] }, "invalid_type", `${conversation}[0]`],
    [{ [conversation]: [{ role: "user", content: "Hello" }, 7] }, "invalid_type", `${conversation}[1]`],
    [{ [conversation]: [{ role: "user", content: 5 }] }, "invalid_type", `${conversation}[0].content`],
    [{ [conversation]: [{ role: "king", content: "" }] }, "invalid_value", `${conversation}[0].role`],
    [{ [conversation]: [] }, "invalid_value", conversation],
    [{ stream: "yes" }, "invalid_type", "stream"],
    [{ temperature: "1" }, "invalid_type", "temperature"],
    [{ temperature: 5 }, "invalid_value", "temperature"],
    [{ tools: {} }, "invalid_type", "tools"],
    [{ tools: [5] }, "invalid_type", "tools[0]"],
    [{ metadata: "x" }, "invalid_type", "metadata"],
  ];
  // Upstreams of chat completions check these members.
  const unchecked = dialect === chat ? ["tools[0]", "metadata"] : [];
  for (const [changes, code, param] of wrong.filter(([, , each]) => !unchecked.includes(each))) {
    test(`${path}: ${JSON.stringify(changes)} is an invalid ${param}`, async (t) => {
      const answer = await send({ ...body("demo/echo"), ...changes });
      const message = assertError(t, answer, clientError(400, code, param));
      t.true(message.includes(param), message);
    });
  }

  test(`${path}: an unknown member does not reject a request`, async (t) => {
    const unknown = {
      future: { deep: [1, null] },
      safeguards: [{ path: "/home" }],
      context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
      client_metadata: { session: "1" },
      output_format: null,
      speed: "fast",
      "": 0,
    };
    for (const stream of [false, true]) {
      const answer = await send(body("demo/echo", "Hello", { ...unknown, stream }));
      t.is(answer.status, 200, answer.text);
    }
  });

  test(`${path}: a body over the limit is rejected, one at the limit is not`, async (t) => {
    const text = JSON.stringify(body("demo/echo"));
    t.is((await send(text.padEnd(bodyBytesMax))).status, 200);
    const over = await send(text.padEnd(bodyBytesMax + 1));
    t.regex(assertError(t, over, clientError(413, "request_too_large")), /10000 bytes/);
  });

  test(`${path}: a compressed body is accepted within the limit of its text`, async (t) => {
    const headers = { "content-encoding": "gzip" };
    t.is((await send(gzipSync(JSON.stringify(body("demo/echo"))), headers)).status, 200);
    const over = gzipSync(JSON.stringify(body("demo/echo")).padEnd(bodyBytesMax + 1));
    assertError(t, await send(over, headers), clientError(413, "request_too_large"));
  });

  test(`${path} allows POST and reports it to other methods`, async (t) => {
    const row: ErrorRow = { ...clientError(405, "method_not_allowed"), headers: { allow: "POST" } };
    for (const method of ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
      const response = await fetch(gateway.url + path, { method });
      const answer = { status: response.status, headers: response.headers, text: await response.text() };
      assertError(t, answer, row);
    }
  });

  for (const alias of [`/${dialect.name}`, `/v1/v1/${dialect.name}`, `${path}?beta=true`]) {
    test(`${alias} is an alias of ${path}`, async (t) => {
      const authorization = `Bearer ${key.value}`;
      t.is((await postTo(gateway, alias, { authorization }, body("demo/echo"))).status, 200);
      const refused = await postTo(gateway, alias, { authorization }, body("demo/none"));
      assertError(t, refused, clientError(404, "model_not_found", "model"));
    });
  }

  // The test is serial, because it blocks the database that these tests share.
  test.serial(`${path}: an uncached key requires the database`, async (t) => {
    const { value } = await createKey(impatient);
    const thaw = freeze(impatient);
    const answer = await postTo(impatient, path, { authorization: `Bearer ${value}` }, body("demo/echo"));
    thaw();
    assertError(t, answer, { ...serverError(503, "service_unavailable"), headers: { "retry-after": "1" } });
  });
}

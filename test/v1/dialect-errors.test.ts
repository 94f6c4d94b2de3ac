import { gzipSync } from "node:zlib";
import test from "ava";
import { generateKeyValue } from "../../gateway/keys/key-value.ts";
import { clientError, type ErrorRow, serverError } from "../helpers/assert-error.ts";
import { clientDialects } from "../helpers/client-dialects.ts";
import { type Answer, postTo } from "../helpers/post-chat.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

// These tests cover the gateway's own errors in the dialects messages and responses. `errors.test.ts`,
// `chat-completions.test.ts` and `bad-input.test.ts` cover chat completions.
const shared = sharedByFile();
const bodyBytesMax = 10_000;
let gateway: TestGateway;
let key: { id: string; value: string };

test.before(async () => {
  gateway = await startTestGateway(shared, {
    environment: { REQUEST_BODY_BYTES_MAX: String(bodyBytesMax), DATABASE_TIMEOUT_MS: "2000" },
  });
  key = await createKey(gateway);
});

const foreignKey = "sk-ant-api03-somebody-elses";

for (const dialect of clientDialects) {
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
    for (const model of ["test/model evil", "\u{1b}[31mtest/model", "", "a".repeat(5_000), "../../etc"]) {
      const message = assertError(t, await send(body(model)), clientError(404, "model_not_found", "model"));
      t.regex(message, /^[\x20-\x7e]{1,300}$/);
    }
  });

  for (const content of ["", " ", "{", "hello", '{"model":"demo/echo",}', "[]", '"text"', "null", "5"]) {
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
  for (const [changes, code, param] of wrong) {
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
    assertError(t, over, clientError(413, "request_too_large"));
  });

  test(`${path}: a compressed body is accepted within the limit of its text`, async (t) => {
    const headers = { "content-encoding": "gzip" };
    t.is((await send(gzipSync(JSON.stringify(body("demo/echo"))), headers)).status, 200);
    const over = gzipSync(JSON.stringify(body("demo/echo")).padEnd(bodyBytesMax + 1));
    assertError(t, await send(over, headers), clientError(413, "request_too_large"));
  });

  test(`${path} allows POST and reports it to other methods`, async (t) => {
    const row: ErrorRow = { ...clientError(405, "method_not_allowed"), headers: { allow: "POST" } };
    for (const method of ["GET", "PUT", "DELETE", "OPTIONS"]) {
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

  // The test is serial, because it blocks the database that all tests share.
  test.serial(`${path}: an uncached key requires the database`, async (t) => {
    const { value } = await createKey(gateway);
    const { promise, resolve } = Promise.withResolvers<void>();
    gateway.services.database.read(() => promise).catch(() => {});
    const answer = await send(body("demo/echo"), { authorization: `Bearer ${value}` });
    resolve();
    assertError(t, answer, { ...serverError(503, "service_unavailable"), headers: { "retry-after": "1" } });
  });
}

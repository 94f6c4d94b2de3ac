import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { gzipSync, zstdCompressSync } from "node:zlib";
import test from "ava";
import fc from "fast-check";
import { assertError, clientError } from "../helpers/assert-error.ts";
import { chat, clientDialects, type ErrorDialect, errorDialects } from "../helpers/client-dialects.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { type Answer, chatBody, postTo } from "../helpers/post-chat.ts";
import { createUpstream, type ScriptedUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const shared = sharedByFile();
let gateway: TestGateway;
let upstream: ScriptedUpstream;
const statuses = new Set<number>();

/** One key per dialect, connected to a native model, a translated model and the demo. */
const keys = new Map<ErrorDialect, string>();

test.before(async () => {
  gateway = await startTestGateway(shared);
  upstream = await createUpstream(shared, ({ url }, response) => {
    const spoken = clientDialects.find(({ name }) => url === `/v1/${name}`);
    if (!spoken) return sendCompletion(response);
    response.writeHead(200, { "content-type": "application/json" }).end(spoken.answer("its-own-name"));
  });
  for (const dialect of errorDialects) {
    const settings = { name: ownModel(dialect).split("/")[0], ...dialect.provider };
    const { model } = await connectUpstream(gateway, upstream, settings);
    const models = [...new Set([model, "chat/model", "demo/echo"])];
    keys.set(dialect, (await createKey(gateway, models)).value);
  }
});

/** The model that needs no translation. */
function ownModel({ name }: ErrorDialect): string {
  return name === "chat/completions" ? "chat/model" : `${name}/model`;
}

test.after("no response has status 500 or above, and the gateway still responds", async (t) => {
  t.is((await send(chat, JSON.stringify(chatBody("chat/model")))).status, 200);
  t.deepEqual(
    [...statuses].filter((status) => status >= 500),
    [],
  );
  t.deepEqual(
    gateway.log.filter((line) => line.includes('"level":"error"')),
    [],
  );
  t.false("polluted" in {}, "the gateway runs in this process: nobody's prototype has changed");
});

async function send(
  dialect: ErrorDialect,
  content: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const authorization = `Bearer ${keys.get(dialect)}`;
  const answer = await postTo(gateway, `/v1/${dialect.name}`, { authorization, ...headers }, content);
  statuses.add(answer.status);
  return answer;
}

function sent(text: string): string {
  return upstream.requests.find(({ body }) => body.includes(text))?.body ?? "";
}

const levels = 1_000_000;

for (const dialect of errorDialects) {
  const { name, conversation } = dialect;
  const own = ownModel(dialect);

  const write = (model: string, content: string, more = "") =>
    JSON.stringify(dialect.body(model, "CONTENT")).replace('"CONTENT"', content).replace(/\}$/, `${more}}`);

  const nested: [title: string, body: () => string][] = [
    ["arrays around everything", () => "[".repeat(levels) + "]".repeat(levels)],
    ["arrays that never end", () => "[".repeat(levels)],
    ["objects that never end", () => '{"model":'.repeat(levels)],
    ["arrays in what is said", () => write(own, "[".repeat(levels) + "]".repeat(levels))],
    [
      "objects in an unknown field",
      () => write(own, '"Hello"', `,"x":${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`),
    ],
    [
      "arrays in a model given twice",
      () => write(own, '"Hello"', `,"model":${"[".repeat(levels)}${"]".repeat(levels)}`),
    ],
  ];
  for (const [title, body] of nested) {
    test(`${name}: 1,000,000 nested levels are rejected: ${title}`, async (t) => {
      dialect.assertError(t, await send(dialect, body()), clientError(400, null));
    });
  }

  test(`${name}: strings full of brackets do not count as nesting`, async (t) => {
    t.is((await send(dialect, write(own, `"${'[{\\"'.repeat(1_000)}"`))).status, 200);
  });

  for (const [title, bytes] of [
    ["in a string", Buffer.from([...Buffer.from('{"model":"te'), 0xff, 0xfe, ...Buffer.from('st"}')])],
    ["overlong", Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d])],
    ["half a surrogate pair", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ["UTF-16", Buffer.from('{"model":"test/model"}', "utf16le")],
  ] as const) {
    test(`${name}: bytes that are not UTF-8 are rejected: ${title}`, async (t) => {
      dialect.assertError(t, await send(dialect, bytes), clientError(400, null));
    });
  }

  for (const model of new Set([own, "chat/model"])) {
    test(`${name}: __proto__ is an ordinary name on the way to ${model}`, async (t) => {
      const smuggled = `{"__proto__":${write(model, '"Hello"')}}`;
      const row = clientError(400, "missing_required_parameter", "model");
      dialect.assertError(t, await send(dialect, smuggled), row);

      const hidden = '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}';
      const prompt = `proto to ${model} by ${name}`;
      const body = write(model, `"${prompt}"`, `,${hidden},"metadata":{${hidden}}`);
      const answer = await send(dialect, body);
      t.is(answer.status, 200, answer.text);
      if (model === own) t.is(sent(prompt), body.replace(own, "upstream-model"));
      else t.false(sent(prompt).includes("polluted"));
    });

    test(`${name}: of a duplicated model ${model}'s upstream receives the checked one`, async (t) => {
      const twice = (prompt: string, wrong: string, right: string) =>
        write(wrong, `"${prompt}"`, `,"model":"${right}"`);
      const good = await send(dialect, twice(`good ${t.title}`, "no/model", model));
      t.is(good.status, 200, good.text);
      const body = sent(`good ${t.title}`);
      t.is(JSON.parse(body).model, "upstream-model");
      t.is(body.match(/model"\s*:/g)?.length, 1, "once: upstreams may take the first");

      const bad = await send(dialect, twice(`bad ${t.title}`, model, "no/model"));
      dialect.assertError(t, bad, clientError(404, "model_not_found", "model"));
      t.is(sent(`bad ${t.title}`), "");
    });
  }

  test(`${name}: of a duplicated stream member the upstream receives the expected one`, async (t) => {
    const prompt = `stream twice by ${name}`;
    const body = write(own, `"${prompt}"`, ',"stream":false').replace("{", '{"stream":true,');
    t.is((await send(dialect, body)).status, 200);
    t.is(JSON.parse(sent(prompt)).stream, false);
    t.is(sent(prompt).match(/stream"/g)?.length, 1);
  });

  test(`${name}: any JSON in a request is answered or rejected in the right form`, async (t) => {
    const value = fc.jsonValue({ maxDepth: 4 });
    const item = fc.record(
      {
        type: fc.oneof(fc.constantFrom("message", "text", "input_text", "tool_result", "image"), value),
        role: fc.oneof(fc.constantFrom("user", "assistant", "system"), value),
        content: fc.oneof({ weight: 2, arbitrary: fc.array(fc.record({ type: value, text: value })) }, value),
        call_id: value,
        arguments: value,
        output: value,
      },
      { requiredKeys: [] },
    );
    const said = fc.oneof({ weight: 4, arbitrary: fc.array(item, { minLength: 1, maxLength: 4 }) }, value);
    const more = fc.record(
      { tools: value, tool_choice: value, thinking: value, reasoning: value, text: value, system: value },
      { requiredKeys: [] },
    );
    const property = fc.asyncProperty(said, more, fc.boolean(), async (items, members, stream) => {
      const body = { ...dialect.body("demo/echo", "", members), [conversation]: items, stream };
      const answer = await send(dialect, JSON.stringify(body));
      if (answer.status === 200) return;
      assert.equal(answer.status, 400, answer.text);
      dialect.assertError(t, answer, { status: 400, ...JSON.parse(answer.text).error });
    });
    await t.notThrowsAsync(fc.assert(property, { numRuns: 150 }));
  });
}

test("a compressed body is read as its encoding says", async (t) => {
  const body = gzipSync(JSON.stringify(chatBody("chat/model")));
  t.is((await send(chat, body, { "content-encoding": "gzip" })).status, 200);
  for (const encoding of ["br", "zstd"]) {
    assertError(t, await send(chat, body, { "content-encoding": encoding }), clientError(400, null));
  }
  const deflated = await send(chat, body, { "content-encoding": "deflate" });
  assertError(t, deflated, clientError(415, "unsupported_encoding"));
  t.is(
    (await send(chat, JSON.stringify(chatBody("chat/model")), { "content-encoding": "identity" })).status,
    200,
  );
});

test("a zstd body of 1 MB is answered and arrives whole", async (t) => {
  const prompt = randomBytes(500_000).toString("hex");
  const body = zstdCompressSync(JSON.stringify(chatBody("chat/model", prompt)));
  t.is((await send(chat, body, { "content-encoding": "zstd" })).status, 200);
  t.true(upstream.requests.some(({ body: relayed }) => relayed.includes(`"${prompt}"`)));
});

for (const value of [
  "' OR '1'='1",
  "sk-gateway-' OR 1=1 --",
  '"; DROP TABLE api_keys; --',
  "sk-gateway-%00%27",
]) {
  test(`SQL in a key is an invalid key: ${value}`, async (t) => {
    for (const headers of [
      { authorization: `Bearer ${value.replaceAll(" ", "/**/")}` },
      { authorization: "", "x-api-key": value },
    ]) {
      const answer = await send(
        chat,
        JSON.stringify(chatBody("chat/model")),
        headers as Record<string, string>,
      );
      assertError(t, answer, clientError(401, "invalid_api_key"));
    }
  });
}

for (const path of ["/v1/models/%E0%A4%A", "/v1/models/%", "/v1/models/%ff", "/v1/models/a%2"]) {
  test(`a URL with a broken percent sequence is rejected: ${path}`, async (t) => {
    const response = await fetch(gateway.url + path, {
      headers: { authorization: `Bearer ${keys.get(chat)}` },
    });
    statuses.add(response.status);
    const answer = { status: response.status, headers: response.headers, text: await response.text() };
    assertError(t, answer, clientError(400, "invalid_value"));
  });
}

for (const path of [
  "/%",
  "/v1/%ZZ",
  "/%00",
  "/v1/..%2f..%2fetc/passwd",
  "/v1/\u{1f600}",
  `/${"a".repeat(10_000)}`,
]) {
  test(`an odd URL is unknown, and only plain characters are echoed: ${path.slice(0, 30)}`, async (t) => {
    const response = await fetch(gateway.url + path);
    statuses.add(response.status);
    const answer = { status: response.status, headers: response.headers, text: await response.text() };
    const message = assertError(t, answer, clientError(404, "unknown_url"));
    t.regex(message, /^[\x20-\x7e]{1,300}$/);
  });
}

import { randomBytes } from "node:crypto";
import { gzipSync, zstdCompressSync } from "node:zlib";
import test from "ava";
import { assertError, clientError } from "../helpers/assert-error.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { type Answer, chatBody } from "../helpers/post-chat.ts";
import { createUpstream, type ScriptedUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const shared = sharedByFile();
let gateway: TestGateway;
let upstream: ScriptedUpstream;
let key: { id: string; value: string };
const statuses = new Set<number>();

test.before(async () => {
  upstream = await createUpstream(shared, (_request, response) => sendCompletion(response));
  gateway = await startTestGateway(shared);
  key = await connectUpstream(gateway, upstream);
});

test.after("no response has status 500 or above, and the gateway still responds", async (t) => {
  t.is((await send(JSON.stringify(chatBody("test/model")))).status, 200);
  t.deepEqual(
    [...statuses].filter((status) => status >= 500),
    [],
  );
  t.deepEqual(
    gateway.log.filter((line) => line.includes('"level":"error"')),
    [],
  );
});

async function send(
  body: string | Buffer<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key.value}`, "content-type": "application/json", ...headers },
    body,
  });
  statuses.add(response.status);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const levels = 1_000_000;
const nested: [title: string, body: () => string][] = [
  ["arrays around everything", () => "[".repeat(levels) + "]".repeat(levels)],
  ["arrays that never end", () => "[".repeat(levels)],
  ["objects that never end", () => '{"model":'.repeat(levels)],
  ["arrays in the content", () => withContent("[".repeat(levels) + "]".repeat(levels))],
  [
    "objects in an unknown field",
    () => withContent(`"","x":${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`),
  ],
  [
    "arrays in a model given twice",
    () => withContent(`"","model":${"[".repeat(levels)}${"]".repeat(levels)}`),
  ],
];
for (const [title, body] of nested) {
  test(`1,000,000 nested levels are rejected: ${title}`, async (t) => {
    assertError(t, await send(body()), clientError(400, null));
  });
}

function withContent(content: string): string {
  return `{"model":"test/model","messages":[{"role":"user","content":${content}}]}`;
}

test("strings full of brackets do not count as nesting", async (t) => {
  t.is((await send(withContent(`"${'[{\\"'.repeat(1_000)}"`))).status, 200);
});

test("__proto__ is an ordinary name that passes unchanged", async (t) => {
  const smuggled = `{"__proto__":{"model":"test/model","messages":[{"role":"user","content":"x"}]}}`;
  assertError(t, await send(smuggled), clientError(400, "missing_required_parameter", "model"));

  const body = `{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},${withContent('"proto"').slice(1)}`;
  t.is((await send(body)).status, 200);
  t.is(sent("proto"), body.replace("test/model", "upstream-model"));
  t.false("polluted" in {}, "the gateway runs in this process: nobody's prototype has changed");
});

function sent(prompt: string): string {
  return upstream.requests.find(({ body }) => body.includes(`"${prompt}"`))?.body ?? "";
}

for (const [title, bytes] of [
  ["in a string", Buffer.from([...Buffer.from('{"model":"te'), 0xff, 0xfe, ...Buffer.from('st"}')])],
  ["overlong", Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d])],
  ["half a surrogate pair", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ["UTF-16", Buffer.from('{"model":"test/model"}', "utf16le")],
] as const) {
  test(`bytes that are not UTF-8 are rejected: ${title}`, async (t) => {
    assertError(t, await send(bytes), clientError(400, null));
  });
}

test("a compressed body is read as its encoding says", async (t) => {
  const body = gzipSync(JSON.stringify(chatBody("test/model")));
  t.is((await send(body, { "content-encoding": "gzip" })).status, 200);
  for (const encoding of ["br", "zstd"]) {
    assertError(t, await send(body, { "content-encoding": encoding }), clientError(400, null));
  }
  const deflated = await send(body, { "content-encoding": "deflate" });
  assertError(t, deflated, clientError(415, "unsupported_encoding"));
  t.is((await send(JSON.stringify(chatBody("test/model")), { "content-encoding": "identity" })).status, 200);
});

test("a zstd body of 1 MB is answered and arrives whole", async (t) => {
  const prompt = randomBytes(500_000).toString("hex");
  const body = zstdCompressSync(JSON.stringify(chatBody("test/model", prompt)));
  t.is((await send(body, { "content-encoding": "zstd" })).status, 200);
  t.true(upstream.requests.some(({ body: relayed }) => relayed.includes(`"${prompt}"`)));
});

for (const model of [
  "test/model evil",
  "test/model\n",
  "\u{1b}[31mtest/model",
  "test/mo\u{0}del",
  "test/\u{202e}model",
  "",
  "/",
  "a".repeat(100_000),
  "test/model' OR '1'='1",
  "../../etc/passwd",
]) {
  test(`an invalid slug is not found and not repeated: ${JSON.stringify(model.slice(0, 30))}`, async (t) => {
    const answer = await send(JSON.stringify(chatBody(model)));
    const message = assertError(t, answer, clientError(404, "model_not_found", "model"));
    t.regex(message, /^[\x20-\x7e]+$/);
    t.true(model === "" || model === "/" || !message.includes(model));
    t.true(message.length < 300);
  });
}

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
      const answer = await send(JSON.stringify(chatBody("test/model")), headers as Record<string, string>);
      assertError(t, answer, clientError(401, "invalid_api_key"));
    }
  });
}

test("of a duplicated model the upstream receives the checked one", async (t) => {
  const rest = (prompt: string) => `"messages":[{"role":"user","content":"${prompt}"}]`;
  const good = await send(`{"model":"demo/echo",${rest("good twice")},"model":"test/model"}`);
  t.is(good.status, 200);
  const body = sent("good twice");
  t.is(JSON.parse(body).model, "upstream-model");
  t.is(body.match(/model"\s*:/g)?.length, 1, "once: upstreams may take the first");

  const bad = await send(`{"model":"test/model",${rest("bad twice")},"model":"demo/echo"}`);
  assertError(t, bad, clientError(404, "model_not_found", "model"));
  t.is(sent("bad twice"), "");
});

test("of a duplicated stream member the upstream receives the expected one", async (t) => {
  const body = `{"stream":true,"model":"test/model","messages":[{"role":"user","content":"twice"}],"stream":false}`;
  t.is((await send(body)).status, 200);
  t.is(JSON.parse(sent("twice")).stream, false);
  t.is(sent("twice").match(/stream"/g)?.length, 1);
});

for (const path of ["/v1/models/%E0%A4%A", "/v1/models/%", "/v1/models/%ff", "/v1/models/a%2"]) {
  test(`a URL with a broken percent sequence is rejected: ${path}`, async (t) => {
    const response = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${key.value}` } });
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

import type { ServerResponse } from "node:http";
import test, { type ExecutionContext } from "ava";
import { assertError, clientError, type ErrorRow, serverError } from "../helpers/assert-error.ts";
import { chat, type ErrorDialect, errorDialects } from "../helpers/client-dialects.ts";
import { connectUpstream, upstreamSecret } from "../helpers/connect-upstream.ts";
import { freePort } from "../helpers/free-port.ts";
import { chatBody, postChat, postTo } from "../helpers/post-chat.ts";
import {
  createPromptedUpstream,
  type PromptedUpstream,
  type PromptScript,
} from "../helpers/prompted-upstream.ts";
import { isFull } from "../helpers/scale.ts";
import { createUpstream, type ScriptedUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

// These tests cover upstream failures before the response's first byte. `broken-streams.test.ts` covers later failures.
const shared = sharedByFile();
let gateway: TestGateway;
let upstream: PromptedUpstream;
let canary: ScriptedUpstream;

test.before(async () => {
  canary = await createUpstream(shared, (_request, response) => sendCompletion(response, "from the canary"));
  upstream = await createPromptedUpstream(shared);
  gateway = await startTestGateway(shared);
  const timeouts = { firstByteTimeoutMs: 15_000, idleTimeoutMs: 15_000 };
  for (const { name, provider } of errorDialects)
    await connectUpstream(gateway, upstream, { name: name.replace("/", "-"), ...provider, ...timeouts });
});

const said = "The upstream says no.";

/** Sends an upstream response. `refusal` formats an error body as the upstream's API does. */
type Failure = (response: ServerResponse, refusal: (message: string) => object) => void;

function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

function refuse(status: number, headers = {}, message = said): Failure {
  return (response, refusal) => sendJson(response, status, refusal(message), headers);
}

function html(status: number): Failure {
  return (response) => {
    response.writeHead(status, { "content-type": "text/html" });
    response.end("<html><body>Hello from a captive portal</body></html>");
  };
}

const quoting = `Bad request with ${upstreamSecret}.`;
const upstreamError = serverError(502, "upstream_error");
const tooSlow = serverError(504, "upstream_timeout");
const badCredential = serverError(502, "upstream_auth_failed");

/** Rows without `says` have the gateway's message, and the others have the upstream's. */
const failures: [title: string, failure: Failure, row: ErrorRow, says?: string][] = [
  ["a 400 is passed on", refuse(400), clientError(400, null), said],
  ["a 404 is passed on", refuse(404), clientError(404, null), said],
  ["a 422 is passed on", refuse(422), clientError(422, null), said],
  [
    "a 429 is passed on with its retry-after",
    refuse(429, { "retry-after": "7" }),
    { ...clientError(429, null), headers: { "retry-after": "7" } },
    said,
  ],
  ["a 400 in HTML is a 400 in JSON", html(400), clientError(400, null)],
  [
    "our credential is not repeated",
    refuse(400, {}, quoting),
    clientError(400, null),
    "Bad request with [key removed].",
  ],
  ["a 401 is ours to mend", refuse(401, {}, quoting), badCredential],
  ["a 403 is ours to mend", refuse(403, {}, quoting), badCredential],
  ["a 500 is a 502", refuse(500), upstreamError],
  ["a 503 is a 502", refuse(503, { "retry-after": "3" }), upstreamError],
  ["a 529 is a 502", refuse(529), upstreamError],
  ["a 204 is no answer", (response) => void response.writeHead(204).end(), upstreamError],
  ["HTML is no answer", html(200), upstreamError],
  ["nothing is no answer", (response) => void response.writeHead(200).end(), upstreamError],
  [
    "JSON of another kind is no answer",
    (response) => sendJson(response, 200, { hello: 1, model: "x", usage: {} }),
    upstreamError,
  ],
  ...[302, 307, 308].map((status): (typeof failures)[number] => [
    `a redirect with ${status} is not followed`,
    (response) => void response.writeHead(status, { location: `${canary.url}/v1/chat/completions` }).end(),
    upstreamError,
  ]),
  [
    "a connection that is reset is no answer",
    (response) => void response.socket?.resetAndDestroy(),
    upstreamError,
  ],
  [
    "an answer that is cut off is no answer",
    (response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"choices":[],"content":[],"output":[', () => response.socket?.destroy());
    },
    upstreamError,
  ],
  ["an upstream that never answers is too slow", () => {}, tooSlow],
  [
    "an upstream that stalls after its head is too slow",
    (response) => response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders(),
    tooSlow,
  ],
  [
    "an error that is never told to its end is too slow",
    (response) => void response.writeHead(400, { "content-type": "application/json" }).write('{"error":'),
    tooSlow,
  ],
];

const ways = errorDialects.flatMap((dialect) =>
  (dialect === chat ? [true] : [true, false]).map((isNative) => ({ dialect, isNative })),
);

for (const [way, { dialect, isNative }] of ways.entries()) {
  for (const stream of [false, true]) {
    for (const [index, [title, failure, row, says]] of failures.entries()) {
      // Below full scale, each failure runs once a way. Half of the ways stream.
      if (!isFull && ((index + way) % 2 === 1) !== stream) continue;
      const how = `${dialect.name}, ${isNative ? "native" : "translated"}${stream ? ", streamed" : ""}`;
      test(`${how}: ${title}`, async (t) => {
        const spoken = isNative ? dialect : chat;
        upstream.scripts.set(t.title, (response) => failure(response, spoken.refusal));
        const model = `${spoken.name.replace("/", "-")}/model`;
        const key = await createKey(gateway, [model]);
        const authorization = `Bearer ${key.value}`;

        const body = dialect.body(model, t.title, { stream });
        const answer = await postTo(gateway, `/v1/${dialect.name}`, { authorization }, body);

        const expected = says === undefined ? row : inUpstreamsWords(spoken, row);
        const message = dialect.assertError(t, answer, expected);
        if (says !== undefined) t.is(message, says);
        t.notRegex(answer.text, /captive portal|from the canary/);
        t.false(answer.text.includes(upstreamSecret), "our own credential is not shown");
        t.is(upstream.seen(t.title).length, 1, "nothing is sent twice");
        t.is(upstream.seen(t.title)[0]?.url, `/v1/${spoken.name}`);
        const records = await usageOf(gateway, key.id);
        t.like(records, [{ endpoint: dialect.name, status: "FAILED", httpStatus: answer.status, stream }]);
      });
    }
  }
}

/** Returns the row with the `type`, `param` and `code` of the upstream's error. */
function inUpstreamsWords({ refusal }: ErrorDialect, row: ErrorRow): ErrorRow {
  const { error } = refusal("") as { error: Partial<ErrorRow> };
  const { type = row.type, param = null, code = null } = error;
  return { ...row, type, param, code };
}

async function askChat(t: ExecutionContext, script: PromptScript) {
  upstream.scripts.set(t.title, script);
  const model = "chat-completions/model";
  const { value } = await createKey(gateway, [model]);
  return postChat(gateway, value, chatBody(model, t.title));
}

const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
for (const [title, error] of [
  ["an error without more than its message is passed on", `{"message":"${said}"}`],
  ["an error that is text is its message", `"${said}"`],
  ["deeply nested details of an error are omitted", `{"message":"${said}","details":{"a":${deep}}}`],
] as const) {
  test(title, async (t) => {
    const answer = await askChat(t, (response) => void response.writeHead(400).end(`{"error":${error}}`));
    t.is(assertError(t, answer, clientError(400, null)), said);
  });
}

test("a refused connection is reported as an unreachable upstream", async (t) => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const gone = await connectUpstream(gateway, { url }, { name: "gone" });
  const answer = await postChat(gateway, gone.value, chatBody(gone.model));
  t.regex(assertError(t, answer, upstreamError), /refused/);
});

test.after("no redirect is followed", (t) => {
  t.deepEqual(canary.requests, []);
});

import type { ServerResponse } from "node:http";
import test from "ava";
import { assertError, clientError, type ErrorRow, serverError } from "../helpers/assert-error.ts";
import { connectUpstream, upstreamSecret } from "../helpers/connect-upstream.ts";
import { freePort } from "../helpers/free-port.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import {
  createPromptedUpstream,
  type PromptedUpstream,
  type PromptScript,
} from "../helpers/prompted-upstream.ts";
import { createUpstream, type ScriptedUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

// These tests cover upstream failures before the response's first byte. `broken-streams.test.ts` covers later failures.
const shared = sharedByFile();
let gateway: TestGateway;
let upstream: PromptedUpstream;
let key: { id: string; value: string };
let canary: ScriptedUpstream;

test.before(async () => {
  canary = await createUpstream(shared, (_request, response) => sendCompletion(response, "from the canary"));
  upstream = await createPromptedUpstream(shared);
  gateway = await startTestGateway(shared);
  key = await connectUpstream(gateway, upstream, {
    firstByteTimeoutMs: 4_000,
    idleTimeoutMs: 4_000,
  });
});

function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

function refuse(status: number, error: object, headers = {}): PromptScript {
  return (response) =>
    sendJson(response, status, { error: { message: "The upstream says no.", ...error } }, headers);
}

function html(status: number): PromptScript {
  return (response) => {
    response.writeHead(status, { "content-type": "text/html" });
    response.end("<html><body>Hello from a captive portal</body></html>");
  };
}

/** A failure before the first byte is the same with and without streaming. */
function assertFailure(title: string, script: PromptScript, row: ErrorRow, message?: string): void {
  for (const stream of [false, true]) {
    const prompt = `${title}, ${stream ? "stream" : "no stream"}`;
    test(prompt, async (t) => {
      upstream.scripts.set(prompt, script);
      const answer = await postChat(gateway, key.value, chatBody("test/model", prompt, { stream }));
      const said = assertError(t, answer, row);
      if (message !== undefined) t.is(said, message);
      t.notRegex(answer.text, /captive portal|from the canary/);
      t.false(answer.text.includes(upstreamSecret), "our own credential is not shown");
      t.is(upstream.seen(prompt).length, 1, "nothing is sent twice");
    });
  }
}

const said = "The upstream says no.";
const contextLength = { type: "invalid_request_error", param: "messages", code: "context_length_exceeded" };
assertFailure("a 400 is passed on", refuse(400, contextLength), { status: 400, ...contextLength }, said);
const noSuchModel = { type: "not_found_error", param: "model", code: "model_gone" };
assertFailure("a 404 is passed on", refuse(404, noSuchModel), { status: 404, ...noSuchModel }, said);
assertFailure("a 422 without more is passed on", refuse(422, {}), clientError(422, null), said);
const tooMany = { type: "tokens", param: null, code: "rate_limit_exceeded" };
assertFailure(
  "a 429 is passed on with its retry-after",
  refuse(429, tooMany, { "retry-after": "7" }),
  { status: 429, ...tooMany, headers: { "retry-after": "7" } },
  said,
);
assertFailure("a 400 in HTML is a 400 in JSON", html(400), clientError(400, null));
assertFailure(
  "an error that is text is its message",
  (response) => sendJson(response, 400, { error: said }),
  clientError(400, null),
  said,
);

const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
assertFailure(
  "deeply nested details of an error are omitted",
  (response) => void response.writeHead(400).end(`{"error":{"message":"${said}","details":{"a":${deep}}}}`),
  clientError(400, null),
  said,
);

test("an upstream that quotes our credential does not reveal it to the client", async (t) => {
  const quotes = [
    { message: `Bad request with Bearer ${upstreamSecret}.` },
    { code: `bad_key_${upstreamSecret}` },
    { type: upstreamSecret },
    { param: upstreamSecret },
  ];
  for (const [index, quote] of quotes.entries()) {
    const prompt = `quote ${index}`;
    upstream.scripts.set(prompt, refuse(400, quote));
    const answer = await postChat(gateway, key.value, chatBody("test/model", prompt));
    t.is(answer.status, 400);
    t.false(answer.text.includes(upstreamSecret), answer.text);
  }
});

const badCredential = { message: `Incorrect API key: ${upstreamSecret}`, code: "invalid_api_key" };
assertFailure("a 401 is ours to mend", refuse(401, badCredential), serverError(502, "upstream_auth_failed"));
assertFailure("a 403 is ours to mend", refuse(403, badCredential), serverError(502, "upstream_auth_failed"));

const upstreamError = serverError(502, "upstream_error");
assertFailure("a 500 is a 502", refuse(500, { code: "oh_no" }), upstreamError);
assertFailure("a 503 is a 502", refuse(503, {}, { "retry-after": "3" }), upstreamError);
assertFailure("a 204 is no answer", (response) => void response.writeHead(204).end(), upstreamError);
assertFailure("HTML is no answer", html(200), upstreamError);
assertFailure("nothing is no answer", (response) => void response.writeHead(200).end(), upstreamError);
assertFailure(
  "JSON of another kind is no answer",
  (response) => sendJson(response, 200, { hello: 1 }),
  upstreamError,
);
assertFailure(
  "a redirect is not followed",
  (response) => void response.writeHead(307, { location: `${canary.url}/v1/chat/completions` }).end(),
  upstreamError,
);
assertFailure(
  "a connection that is reset is no answer",
  (response) => void response.socket?.resetAndDestroy(),
  upstreamError,
);
assertFailure(
  "an answer that is cut off is no answer",
  (response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    response.write('{"choices":[', () => response.socket?.destroy());
  },
  upstreamError,
);

const tooSlow = serverError(504, "upstream_timeout");
assertFailure("an upstream that never answers is too slow", () => {}, tooSlow);
assertFailure(
  "an upstream that stalls after its head is too slow",
  (response) => response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders(),
  tooSlow,
);
assertFailure(
  "an error that is never told to its end is too slow",
  (response) => void response.writeHead(400, { "content-type": "application/json" }).write('{"error":'),
  tooSlow,
);

test("a refused connection is reported as an unreachable upstream", async (t) => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const gone = await connectUpstream(gateway, { url }, { name: "gone" });
  const answer = await postChat(gateway, gone.value, chatBody(gone.model));
  t.regex(assertError(t, answer, upstreamError), /refused/);
});

test.after("no redirect is followed", (t) => {
  t.deepEqual(canary.requests, []);
});

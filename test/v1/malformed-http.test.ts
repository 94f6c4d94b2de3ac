import type { Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import test from "ava";
import { assertError, clientError } from "../helpers/assert-error.ts";
import { hangMs } from "../helpers/eventually.ts";
import { type Answer, chatBody, postChat } from "../helpers/post-chat.ts";
import { openSocket, readAnswer, sendRaw } from "../helpers/send-raw.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const shared = sharedByFile();
let gateway: TestGateway;
let key: { id: string; value: string };
/** Its limit of whole requests, which also ends slow heads, is never reached. */
let patient: TestGateway;
let patientKey: { id: string; value: string };
const statuses = new Set<number>();

test.before(async () => {
  gateway = await startTestGateway(shared, {
    // On a busy machine, the requests of the other tests take seconds.
    environment: { REQUEST_HEADERS_TIMEOUT_MS: "15000", REQUEST_RECEIVE_TIMEOUT_MS: "15000" },
  });
  key = await createKey(gateway);
  patient = await startTestGateway(shared, { environment: { REQUEST_HEADERS_TIMEOUT_MS: "15000" } });
  patientKey = await createKey(patient);
});

test.after("no response has status 500 or above, and the gateway still responds", async (t) => {
  t.is((await postChat(gateway, key.value, chatBody("demo/echo"))).status, 200);
  t.deepEqual(
    [...statuses].filter((status) => status >= 500),
    [],
  );
});

async function send(...pieces: (string | Buffer)[]): Promise<Answer> {
  const answer = await sendRaw(gateway.url, ...pieces);
  statuses.add(answer.status);
  return answer;
}

function head(...lines: string[]): string {
  return `${["POST /v1/chat/completions HTTP/1.1", "host: gateway", ...lines].join("\r\n")}\r\n\r\n`;
}

const body = JSON.stringify(chatBody("demo/echo"));
const length = `content-length: ${Buffer.byteLength(body)}`;
const bearer = () => `authorization: Bearer ${key.value}`;

const malformed: [title: string, pieces: () => string[]][] = [
  ["a garbage request line", () => ["\u{1}\u{2} what is this\r\n\r\n"]],
  ["TLS", () => ["\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\r\n\r\n"]],
  ["HTTP/2", () => ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]],
  ["an unknown method", () => ["BREW /v1/models HTTP/1.1\r\nhost: gateway\r\n\r\n"]],
  ["no host", () => ["GET /v1/models HTTP/1.1\r\n\r\n"]],
  ["a header without a colon", () => [head(bearer(), "what is this")]],
  ["a space before a header's colon", () => [head(bearer(), "content-length : 5")]],
  ["a folded header with a control character", () => [head(bearer(), "x-a: b\u{0}c")]],
  ["two lengths", () => [head(bearer(), "content-length: 5", "content-length: 6"), body]],
  ["a negative length", () => [head(bearer(), "content-length: -5"), body]],
  ["a length and chunks", () => [head(bearer(), length, "transfer-encoding: chunked"), body]],
  ["a bad chunk size", () => [head(bearer(), "transfer-encoding: chunked"), "zz\r\nhello\r\n0\r\n\r\n"]],
  [
    "chunks without an end of line",
    () => [head(bearer(), "transfer-encoding: chunked"), "5\r\nhelloXX0\r\n\r\n"],
  ],
  ["an unknown transfer encoding", () => [head(bearer(), "transfer-encoding: gzip"), body]],
];
for (const [title, pieces] of malformed) {
  test(`malformed HTTP is rejected in the error form: ${title}`, async (t) => {
    assertError(t, await send(...pieces()), clientError(400, null));
  });
}

test("an unsupported Expect header is rejected or ignored, in JSON either way", async (t) => {
  const answer = await send(head(bearer(), length, "expect: a-miracle"), body);
  t.true([200, 417].includes(answer.status));
  t.is(answer.headers.get("content-type"), "application/json; charset=utf-8");
});

test("headers over the limit are rejected in the error form", async (t) => {
  const answer = await send(head(bearer(), `x-large: ${"a".repeat(64 * 1024)}`));
  assertError(t, answer, clientError(431, "request_too_large"));
});

test("hundreds of headers do not hide the relevant ones", async (t) => {
  const many = Array.from({ length: 300 }, (_, index) => `a${index}: b`);
  t.is((await send(head(bearer(), length, ...many), body)).status, 200);
});

for (const [title, names] of [
  ["in two cases", ["Authorization", "authorization"]],
  ["in the same case", ["authorization", "authorization"]],
]) {
  test(`two Authorization headers are rejected, even if one is valid: ${title}`, async (t) => {
    const [first, second] = names as [string, string];
    for (const values of [
      [key.value, "sk-wrong"],
      ["sk-wrong", key.value],
      [key.value, key.value],
    ]) {
      const lines = [`${first}: Bearer ${values[0]}`, `${second}: Bearer ${values[1]}`, length];
      assertError(t, await send(head(...lines), body), clientError(401, "invalid_api_key"));
    }
  });
}

test("two x-api-key headers are an invalid key", async (t) => {
  const answer = await send(head(`x-api-key: ${key.value}`, `x-api-key: ${key.value}`, length), body);
  assertError(t, answer, clientError(401, "invalid_api_key"));
});

test("a header named __proto__ changes nothing", async (t) => {
  const proto = "__proto__: authorization";
  t.is((await send(head(proto, bearer(), "constructor: x", length), body)).status, 200);
  assertError(t, await send(head(proto, length), body), clientError(401, null));
});

test("a body sent in single bytes and in chunks is read as one", async (t) => {
  const chunks = [...body].map((character) => `1\r\n${character}\r\n`);
  const answer = await send(head(bearer(), "transfer-encoding: chunked"), ...chunks, "0\r\n\r\n");
  t.is(answer.status, 200);
});

test("a client that sends its headers too slowly receives an error and is cut off", async (t) => {
  const socket = await openSocket(patient.url);
  const answer = readAnswer(socket, hangMs / 2);
  socket.write("POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\n");
  const dawdle = setInterval(() => socket.write("x-slow: 1\r\n"), 50);
  t.teardown(() => clearInterval(dawdle));
  assertError(t, await answer, clientError(408, "request_timeout"));
});

test("a client that sends its body too slowly receives an error and is cut off", async (t) => {
  const answer = await send(head(bearer(), "content-length: 1000"), '{"model":');
  assertError(t, answer, clientError(408, "request_timeout"));
});

const bodyBytes = 100 * 1024 * 1024;
const tooLarge = clientError(413, "request_too_large");

for (const framing of ["announced", "chunked"] as const) {
  test.serial(`a ${framing} body of 100 MB is discarded as it arrives and rejected`, async (t) => {
    const socket = await openSocket(patient.url);
    t.teardown(() => socket.destroy());
    // Simple clients send the whole body before they read, so a reset would lose the response.
    socket.pause();
    const before = bufferBytes();
    const lines = [
      "POST /v1/chat/completions HTTP/1.1",
      "host: gateway",
      `authorization: Bearer ${patientKey.value}`,
      framing === "announced" ? `content-length: ${bodyBytes}` : "transfer-encoding: chunked",
    ];
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    const { sentBytes, keptBytes } = await pour(socket, framing === "chunked");

    t.is(sentBytes, bodyBytes, "the connection stays open while the client is sending");
    assertError(t, await readAnswer(socket), tooLarge);
    t.true(keptBytes - before < 48 * 1024 * 1024, `${keptBytes - before} bytes were kept`);
    t.is((await postChat(patient, patientKey.value, chatBody("demo/echo"))).status, 200);
  });
}

/** Sends the body. `keptBytes` is the buffer memory shortly before the end. */
async function pour(socket: Socket, isChunked: boolean): Promise<{ sentBytes: number; keptBytes: number }> {
  const piece = Buffer.alloc(1024 * 1024, " ");
  const framed = isChunked
    ? Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")])
    : piece;
  let sentBytes = 0;
  let keptBytes = 0;
  while (sentBytes < bodyBytes) {
    const error = await new Promise((resolve) => socket.write(framed, resolve));
    if (error) break;
    sentBytes += piece.length;
    if (sentBytes === bodyBytes - 10 * piece.length) keptBytes = bufferBytes();
  }
  if (isChunked) socket.write("0\r\n\r\n");
  return { sentBytes, keptBytes };
}

/** Returns the memory of referenced buffers in this process, which includes the gateway. */
function bufferBytes(): number {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

test.serial("fetch, as used by the OpenAI SDK, receives the response, too", async (t) => {
  assertError(t, await postChat(patient, patientKey.value, "x".repeat(bodyBytes)), tooLarge);
});

import type { Socket } from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import test from "ava";
import { assertError, clientError } from "../helpers/assert-error.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { openSocket, readAnswer } from "../helpers/send-raw.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const shared = sharedByFile();
let gateway: TestGateway;
let key: { id: string; value: string };

test.before(async () => {
  gateway = await startTestGateway(shared);
  key = await createKey(gateway);
});

const bodyBytes = 100 * 1024 * 1024;
const tooLarge = clientError(413, "request_too_large");

for (const framing of ["announced", "chunked"] as const) {
  test.serial(`a ${framing} body of 100 MB is discarded as it arrives and rejected`, async (t) => {
    const socket = await openSocket(gateway.url);
    t.teardown(() => socket.destroy());
    // Simple clients send everything before they read, so the response must survive without a reset.
    socket.pause();
    const before = bufferBytes();
    const lines = [
      "POST /v1/chat/completions HTTP/1.1",
      "host: gateway",
      `authorization: Bearer ${key.value}`,
      framing === "announced" ? `content-length: ${bodyBytes}` : "transfer-encoding: chunked",
    ];
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    const { sentBytes, keptBytes } = await pour(socket, framing === "chunked");

    t.is(sentBytes, bodyBytes, "the connection stays open while the client is sending");
    assertError(t, await readAnswer(socket), tooLarge);
    t.true(keptBytes - before < 48 * 1024 * 1024, `${keptBytes - before} bytes were kept`);
    t.is((await postChat(gateway, key.value, chatBody("demo/echo"))).status, 200);
  });
}

/** Sends the body. Returns the accepted bytes and the memory in use near the end. */
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
  assertError(t, await postChat(gateway, key.value, "x".repeat(bodyBytes)), tooLarge);
});

test.serial("a body of brackets at the size limit does not delay other requests", async (t) => {
  const body = "[".repeat(16 * 1024 * 1024);
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const answer = await postChat(gateway, key.value, body);
  delay.disable();
  assertError(t, answer, clientError(400, null));
  // JSON.parse alone takes more than a second to reject this.
  t.true(delay.max < 500e6, `nothing else could run for ${Math.round(delay.max / 1e6)} ms`);
});

import test from "ava";
import { callUpstream, createUpstreams } from "../helpers/call-upstream.ts";
import { createRawUpstream } from "../helpers/raw-upstream.ts";
import { figures, isFull } from "../helpers/scale.ts";

const answerBytesMax = (isFull ? 64 : 8) * 1024 * 1024;

/** An upper bound for the bytes in the operating system's socket buffers. */
const bufferedBytesMax = 16 * 1024 * 1024;

const hostileChunks: Record<string, string> = {
  "extensions of 16 KB": `1;${"e".repeat(16_000)}\r\nx\r\n`,
  "one byte each": "1\r\nx\r\n".repeat(3_000),
};

for (const [name, chunk] of Object.entries(hostileChunks)) {
  for (const contentType of ["application/json", "text/event-stream"]) {
    // Parallel tests would share Node's buffer pool, which would raise `keptBytes`.
    test.serial(`endless chunks with ${name} end a response of ${contentType}`, async (t) => {
      const upstreams = createUpstreams(t, { upstreamAnswerBytesMax: answerBytesMax });
      let sentBytes = 0;
      const { url } = await createRawUpstream(t, ({ socket }) => {
        const send = () => {
          while (!socket.destroyed && socket.write(chunk, "latin1")) sentBytes += chunk.length;
        };
        socket.on("drain", send);
        socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\ntransfer-encoding: chunked\r\n\r\n`);
        send();
      });
      const memory = new Set<ArrayBufferLike>();
      const { outcome } = callUpstream(upstreams, url, { onData: ({ buffer }) => memory.add(buffer) });
      t.like(await outcome, { status: 200, cause: "EBADANSWER" });
      const { body } = await outcome;
      const keptBytes = [...memory].reduce((sum, { byteLength }) => sum + byteLength, 0);
      t.log(figures(name, { sentBytes, bodyBytes: body.length, keptBytes }));
      t.true(sentBytes < 2 * answerBytesMax + bufferedBytesMax);
      // Each piece of the body keeps its whole backing buffer in memory until the response is complete.
      t.true(keptBytes < 4 * body.length + 1024 * 1024);
    });
  }
}

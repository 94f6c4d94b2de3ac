import type { ServerResponse } from "node:http";
import test from "ava";
import { assertErrorBody, serverError } from "../helpers/assert-error.ts";
import { connectUpstream, upstreamSecret } from "../helpers/connect-upstream.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createPromptedUpstream, type PromptedUpstream } from "../helpers/prompted-upstream.ts";
import { beginStream, chunkEvent, doneEvent, usageEvent } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

// A failure after the first byte causes an error event and no [DONE].
const shared = sharedByFile();
let gateway: TestGateway;
let upstream: PromptedUpstream;
let key: { id: string; value: string };

test.before(async () => {
  upstream = await createPromptedUpstream(shared);
  gateway = await startTestGateway(shared);
  key = await connectUpstream(gateway, upstream, { idleTimeoutMs: 300 });
});

const begun = chunkEvent("Hel") + chunkEvent("lo");

const endings: [title: string, end: (response: ServerResponse) => void, code: string][] = [
  ["a connection that is reset", (response) => response.socket?.resetAndDestroy(), "upstream_error"],
  ["a connection that is closed", (response) => response.socket?.end(), "upstream_error"],
  ["an end without [DONE]", (response) => response.end(), "upstream_error"],
  ["an end in the middle of an event", (response) => response.end('data: {"choices":['), "upstream_error"],
  ["an end after the usage", (response) => response.end(usageEvent), "upstream_error"],
  ["silence", () => {}, "upstream_timeout"],
  ["garbage", (response) => response.write("data: <html>\n\n"), "upstream_error"],
  [
    "an error event",
    (response) =>
      response.write(`data: {"error":{"message":"Overloaded by ${upstreamSecret}.","code":500}}\n\n`),
    "upstream_error",
  ],
];
for (const [title, end, code] of endings) {
  test(`${title} mid-stream becomes an error event without [DONE]`, async (t) => {
    upstream.scripts.set(title, (response) => {
      beginStream(response);
      response.write(begun, () => end(response));
    });

    const answer = await postChat(gateway, key.value, chatBody("test/model", title, { stream: true }));

    t.is(answer.status, 200);
    const received = begun.replaceAll("upstream-model-2026", "test/model");
    t.true(answer.text.startsWith(received), "what came before is there");
    const events = answer.text.slice(received.length).split("\n\n");
    t.is(events.pop(), "", "the last event is whole");
    const last = events.pop() ?? "";
    const { status: _, ...members } = serverError(200, code);
    assertErrorBody(t, JSON.parse(last.replace(/^data: /, "")), members);
    t.false(answer.text.includes("[DONE]"));
    t.false(answer.text.includes(upstreamSecret), "our own credential is not shown");
  });
}

test("a stream of single bytes arrives complete", async (t) => {
  const prompt = "one byte at a time";
  const stream = begun.replace("lo", "l\\u00f6 ö") + doneEvent;
  upstream.scripts.set(prompt, async (response) => {
    beginStream(response);
    response.socket?.setNoDelay(true);
    for (const byte of Buffer.from(stream)) {
      // Waits for each byte, so that none are joined.
      await new Promise((resolve) => response.write(Buffer.of(byte), resolve));
    }
    response.end();
  });

  const answer = await postChat(gateway, key.value, chatBody("test/model", prompt, { stream: true }));

  t.is(answer.text, stream.replaceAll("upstream-model-2026", "test/model"));
});

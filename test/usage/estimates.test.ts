import test, { type ExecutionContext } from "ava";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { eventually } from "../helpers/eventually.ts";
import { openChat } from "../helpers/open-chat.ts";
import { chatBody, postChat, postTo } from "../helpers/post-chat.ts";
import {
  createPromptedUpstream,
  type PromptedUpstream,
  type PromptScript,
} from "../helpers/prompted-upstream.ts";
import { beginStream, chunkEvent, doneEvent } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

// Usage that the upstream does not report is estimated from the request and the received part of the response.
const shared = sharedByFile();
let gateway: TestGateway;
let upstream: PromptedUpstream;

test.before(async () => {
  upstream = await createPromptedUpstream(shared);
  gateway = await startTestGateway(shared);
  for (const [name, kind] of [
    ["test", "openai-compatible"],
    ["claude", "anthropic"],
  ] as const) {
    const { modelId } = await connectUpstream(gateway, upstream, { name, kind });
    await gateway.admin.models.update.mutate({ id: modelId, prices: { input: 1, output: 10 } });
  }
});

/** Counts as about one token. */
const word = " word";
const words = Array.from({ length: 100 }, () => word);
const padding = " and some more of it".repeat(10);

const keyFor = (script: PromptScript, prompt: string) => {
  upstream.scripts.set(prompt + padding, script);
  return createKey(gateway, ["test/model", "claude/model"]);
};

const onlyRecordOf = (keyId: string) =>
  eventually(async () => {
    const [record] = await usageOf(gateway, keyId);
    return record;
  });

const isNear = (t: ExecutionContext, count: number | null, expected: number) =>
  t.true(count !== null && Math.abs(count - expected) <= 3 + expected / 6, `${count} instead of ${expected}`);

test("a stream that its client leaves is recorded with estimated usage and cost", async (t) => {
  const key = await keyFor((response) => {
    beginStream(response);
    response.write(words.map(chunkEvent).join(""));
  }, t.title);
  const chat = openChat(gateway, key.value, chatBody("test/model", t.title + padding, { stream: true }));
  await eventually(() => chat.text().split(word).length > 100);
  chat.request.destroy();

  const record = await onlyRecordOf(key.id);
  t.like(record, { status: "CANCELLED", estimated: true });
  isNear(t, record.outputTokens, 100);
  isNear(t, record.inputTokens, 80);
  t.is(record.cost, (record.inputTokens ?? 0) * 1_000 + (record.outputTokens ?? 0) * 10_000);
});

for (const stream of [false, true]) {
  test(`a client that leaves before the response pays for its input, stream: ${stream}`, async (t) => {
    let hasArrived = false;
    const key = await keyFor(() => void (hasArrived = true), t.title);
    const chat = openChat(gateway, key.value, chatBody("test/model", t.title + padding, { stream }));
    await eventually(() => hasArrived);
    chat.request.destroy();

    const record = await onlyRecordOf(key.id);
    t.like(record, { status: "CANCELLED", estimated: true, outputTokens: 0 });
    isNear(t, record.inputTokens, 80);
  });
}

test("a broken stream is recorded with the received part", async (t) => {
  const key = await keyFor((response) => {
    beginStream(response);
    response.write(words.map(chunkEvent).join(""), () => response.destroy());
  }, t.title);
  await postChat(gateway, key.value, chatBody("test/model", t.title + padding, { stream: true }));

  const record = await onlyRecordOf(key.id);
  t.like(record, { status: "FAILED", estimated: true });
  isNear(t, record.outputTokens, 100);
});

test("Anthropic's first output count is replaced by an estimate, its input is kept", async (t) => {
  const usage = { input_tokens: 321, output_tokens: 3, cache_read_input_tokens: 100 };
  const event = (data: { type: string; [name: string]: unknown }) =>
    `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
  const delta = (text: string) =>
    event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
  const start = { index: 0, content_block: { type: "text", text: "" } };
  const script: PromptScript = (response) => {
    beginStream(response);
    const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], usage };
    response.write(event({ type: "message_start", message }));
    response.write(event({ type: "content_block_start", ...start }));
    response.write(words.map(delta).join(""), () => response.destroy());
  };
  const body = chatBody("claude/model", t.title + padding, { stream: true, max_tokens: 500 });
  for (const path of ["/v1/messages", "/v1/chat/completions"]) {
    const key = await keyFor(script, t.title);
    await postTo(gateway, path, { authorization: `Bearer ${key.value}` }, body);
    const record = await onlyRecordOf(key.id);
    t.like(record, { status: "FAILED", estimated: true, inputTokens: 421, cachedInputTokens: 100 }, path);
    isNear(t, record.outputTokens, 100);
  }
});

for (const stream of [false, true]) {
  test(`missing or partial usage of an upstream is estimated, stream: ${stream}`, async (t) => {
    for (const usage of [null, { prompt_tokens: 77 }, { prompt_tokens: "77", completion_tokens: -1 }]) {
      const prompt = `${t.title} ${JSON.stringify(usage)}`;
      const message = { role: "assistant", content: words.join("") };
      const key = await keyFor((response) => {
        if (stream) {
          beginStream(response);
          const last = `data: ${JSON.stringify({ choices: [], usage })}\n\n`;
          return void response.end(words.map(chunkEvent).join("") + last + doneEvent);
        }
        response.writeHead(200, { "content-type": "application/json" });
        return void response.end(JSON.stringify({ choices: [{ index: 0, message }], usage }));
      }, prompt);
      t.is(
        (await postChat(gateway, key.value, chatBody("test/model", prompt + padding, { stream }))).status,
        200,
      );
      const record = await onlyRecordOf(key.id);
      t.like(record, { status: "SUCCEEDED", estimated: true });
      isNear(t, record.outputTokens, 100);
      if (usage?.prompt_tokens === 77) t.is(record.inputTokens, 77, "what is reported is taken");
      else isNear(t, record.inputTokens, 85);
      t.is(record.cost, (record.inputTokens ?? 0) * 1_000 + (record.outputTokens ?? 0) * 10_000);
    }
  });
}

test("refusals and requests that were never sent count no tokens", async (t) => {
  const key = await keyFor((response) => void response.writeHead(400).end(), t.title);
  await postChat(gateway, key.value, chatBody("test/model", t.title + padding));
  await postChat(gateway, key.value, chatBody("test/model", t.title + padding, { temperature: 9 }));
  const records = await eventually(async () => {
    const found = await usageOf(gateway, key.id);
    return found.length === 2 && found;
  });
  for (const record of records) {
    t.like(record, { inputTokens: null, outputTokens: null, estimated: false });
    t.is(record.cost, 0);
  }
});

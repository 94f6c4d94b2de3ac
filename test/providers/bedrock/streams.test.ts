import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { crc32 } from "node:zlib";
import test from "ava";
import { GatewayError } from "../../../gateway/errors.ts";
import { AwsEventStreamDecoder } from "../../../gateway/providers/bedrock/aws-event-stream-decoder.ts";
import { ConverseStreamReader } from "../../../gateway/providers/bedrock/converse-stream-reader.ts";
import { findModelFamily } from "../../../gateway/providers/bedrock/model-family.ts";
import type { UpstreamEvent } from "../../../gateway/wire/server-sent-events.ts";
import { frameAwsEvent } from "../../helpers/frame-events.ts";

const folder = path.resolve(import.meta.dirname, "../../fixtures/providers/bedrock");

const newReader = () => new ConverseStreamReader(findModelFamily("anthropic.claude-sonnet-4-5"));

function readAll(events: UpstreamEvent[], reader = newReader()) {
  const choices = events.flatMap((event) => reader.read(event));
  return { choices, reader };
}

const event = (name: string, body: object): UpstreamEvent => ({ name, data: JSON.stringify(body) });
const text = event("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Hi" } });
const finish = event("messageStop", { stopReason: "end_turn" });
const counts = event("metadata", { usage: { inputTokens: 3, outputTokens: 1, totalTokens: 4 } });

for (const file of globSync("*.chunks.txt", { cwd: folder }).toSorted()) {
  test(`${file}: the stream ends exactly at its last event`, (t) => {
    const lines = readFileSync(path.join(folder, file), "utf8").trimEnd().split("\n");
    const events = lines.map((line) => {
      const space = line.indexOf(" ");
      return { name: line.slice(0, space), data: line.slice(space + 1) };
    });
    const stopAt = events.findIndex(({ name }) => name === "messageStop");
    const countsAt = events.findIndex(({ name }) => name === "metadata");
    for (let length = 0; length <= events.length; length++) {
      const { state } = readAll(events.slice(0, length)).reader;
      const hasCounts = countsAt !== -1 && length > countsAt;
      const expected = hasCounts ? "ended" : length > stopAt ? "finished" : "unfinished";
      t.is(state, expected, `after ${length} of ${events.length} events`);
    }
  });
}

for (const [name, code] of Object.entries({
  internalServerException: "upstream_error",
  modelStreamErrorException: "upstream_error",
  serviceUnavailableException: "upstream_error",
  throttlingException: "upstream_rejected",
  validationException: "upstream_rejected",
  exceptionOfTomorrowException: "upstream_error",
  unmodeledError: "upstream_error",
})) {
  test(`${name} reaches the client and leaves the stream unfinished`, (t) => {
    const reader = newReader();
    const failure = event(name, { message: "It went wrong.", originalStatusCode: 500 });
    t.throws(() => readAll([text, failure], reader), {
      instanceOf: GatewayError,
      code,
      message: "It went wrong.",
    });
    t.is(reader.state, "unfinished");
  });
}

test("an exception without a message is still an exception", (t) => {
  t.throws(() => readAll([event("throttlingException", {})]), { code: "upstream_rejected" });
});

for (const stopReason of ["malformed_model_output", "malformed_tool_use", "of_tomorrow", "", null, 7]) {
  test(`the stop reason ${String(stopReason)} is not a regular end`, (t) => {
    const reader = newReader();
    t.throws(() => readAll([text, event("messageStop", { stopReason })], reader), {
      code: "upstream_error",
    });
    t.is(reader.state, "unfinished");
  });
}

test("counts before the stop event do not end the stream", (t) => {
  const { reader } = readAll([text, counts]);
  t.is(reader.state, "unfinished");
  t.is(reader.usage?.total_tokens, 4);
  t.is(readAll([finish], reader).reader.state, "finished");
});

test("unknown events, blocks and fields are ignored", (t) => {
  const { choices, reader } = readAll([
    { name: "eventOfTomorrow", data: "" },
    event("messageStart", { role: "assistant", mood: "good" }),
    event("contentBlockStart", { contentBlockIndex: 0, start: { image: { format: "png" } } }),
    event("contentBlockDelta", { contentBlockIndex: 0, delta: { image: { source: { bytes: "AA==" } } } }),
    event("contentBlockDelta", { contentBlockIndex: 0, delta: { reasoningContent: { mood: "good" } } }),
    event("contentBlockDelta", { contentBlockIndex: 9, delta: { toolUse: { input: "{}" } } }),
    event("contentBlockDelta", { contentBlockIndex: 9 }),
    event("contentBlockStop", { contentBlockIndex: 9 }),
    text,
    finish,
    counts,
  ]);
  t.deepEqual(
    choices.map(({ delta, finish_reason: reason }) => [delta, reason]),
    [
      [{ content: "Hi" }, null],
      [{}, "stop"],
    ],
  );
  t.is(reader.state, "ended");
});

test("a tool that Bedrock runs itself is not forwarded to the client", (t) => {
  const { choices } = readAll([
    event("contentBlockStart", {
      contentBlockIndex: 0,
      start: { toolUse: { name: "nova_grounding", toolUseId: "tooluse_1", type: "server_tool_use" } },
    }),
    event("contentBlockDelta", { contentBlockIndex: 0, delta: { toolUse: { input: "{}" } } }),
    event("contentBlockStop", { contentBlockIndex: 0 }),
    text,
    finish,
  ]);
  t.deepEqual(
    choices.map(({ delta }) => delta),
    [{ content: "Hi" }, {}],
  );
  t.is(choices.at(-1)?.finish_reason, "stop");
});

test("thoughts between calls are numbered consecutively", (t) => {
  const thought = (contentBlockIndex: number, reasoningContent: object) =>
    event("contentBlockDelta", { contentBlockIndex, delta: { reasoningContent } });
  const { choices } = readAll([
    thought(0, { text: "a" }),
    thought(0, { signature: "s" }),
    thought(2, { text: "b" }),
    thought(2, { signature: "t" }),
  ]);
  t.deepEqual(
    choices.map(({ delta }) => delta.reasoning_details?.[0]?.index),
    [0, 0, 1, 1],
  );
});

const events = [
  { name: "messageStart", data: '{"role":"assistant"}' },
  { name: "contentBlockDelta", data: '{"delta":{"text":"Grüezi 🌍"}}' },
  { name: "empty", data: "" },
];
const bytes = Buffer.concat(events.map(({ name, data }) => frameAwsEvent(name, data)));

test("events are decoded completely, wherever the bytes are cut", (t) => {
  for (let size = 1; size <= bytes.length; size++) {
    const decoder = new AwsEventStreamDecoder(1_000);
    const found = [];
    for (let at = 0; at < bytes.length; at += size) {
      found.push(...decoder.push(bytes.subarray(at, at + size)));
    }
    t.deepEqual(found, events, `pieces of ${size} bytes`);
    t.false(decoder.isTooLong);
  }
});

test("an exception has its own name, and an error without a model another", (t) => {
  const decoder = new AwsEventStreamDecoder(1_000);
  const [exception] = decoder.push(frameAwsEvent("throttlingException", '{"message":"Slow down."}', true));
  t.deepEqual(exception, { name: "throttlingException", data: '{"message":"Slow down."}' });
  const [error] = decoder.push(
    frame({ ":message-type": "error", ":error-code": "Internal", ":error-message": "Oh no." }),
  );
  t.deepEqual(error, { name: "unmodeledError", data: '{"message":"Oh no."}' });
});

test("headers of every type are skipped", (t) => {
  const flag = Buffer.from("\u0004flag\u0000");
  const number = Buffer.from("\u0001n\u0004\u0000\u0000\u0000\u0007");
  const type = headerBytes(":event-type", "ping");
  const decoder = new AwsEventStreamDecoder(1_000);
  t.deepEqual(decoder.push(frameBytes(Buffer.concat([flag, type, number]))), [{ name: "ping", data: "" }]);
});

test("a single flipped bit is detected", (t) => {
  const message = frameAwsEvent("messageStop", '{"stopReason":"end_turn"}');
  // With a damaged length (the first four bytes), the decoder may wait or report `isTooLong` instead of throwing.
  for (let at = 4; at < message.length; at++) {
    const damaged = Buffer.from(message);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    t.throws(() => new AwsEventStreamDecoder(1_000).push(damaged), undefined, `byte ${at}`);
  }
});

test("an oversized event is rejected by its first four bytes and not buffered", (t) => {
  const length = frameAwsEvent("a", "b").length;
  t.is(new AwsEventStreamDecoder(length).push(frameAwsEvent("a", "b")).length, 1);

  const decoder = new AwsEventStreamDecoder(length - 1);
  t.deepEqual(decoder.push(frameAwsEvent("a", "b").subarray(0, 3)), []);
  t.false(decoder.isTooLong);
  t.deepEqual(decoder.push(frameAwsEvent("a", "b").subarray(3, 4)), []);
  t.true(decoder.isTooLong);
  t.deepEqual(decoder.push(Buffer.alloc(100_000)), []);
  t.true(decoder.isTooLong);
});

test("an invalid message throws", (t) => {
  for (const length of [0, 4, 15]) {
    const prelude = Buffer.alloc(16);
    prelude.writeUInt32BE(length);
    t.throws(() => new AwsEventStreamDecoder(1_000).push(prelude), undefined, `a length of ${length}`);
  }
  const page = new AwsEventStreamDecoder(1_000_000);
  page.push(Buffer.from("<html><body>502 Bad Gateway</body></html>"));
  t.true(page.isTooLong);
});

function frame(headers: Record<string, string>): Buffer {
  return frameBytes(Buffer.concat(Object.entries(headers).map(([name, value]) => headerBytes(name, value))));
}

function frameBytes(headers: Buffer): Buffer {
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(headers.length + 16, 0);
  prelude.writeUInt32BE(headers.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const message = Buffer.concat([prelude, headers, Buffer.alloc(4)]);
  message.writeUInt32BE(crc32(message.subarray(0, -4)), message.length - 4);
  return message;
}

function headerBytes(name: string, value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(value));
  return Buffer.concat([Buffer.of(name.length), Buffer.from(name), Buffer.of(7), length, Buffer.from(value)]);
}

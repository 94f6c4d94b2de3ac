import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "ava";
import { GatewayError } from "../../../gateway/errors.ts";
import { ConverseStreamReader } from "../../../gateway/providers/bedrock/converse-stream-reader.ts";
import type { UpstreamEvent } from "../../../gateway/wire/server-sent-events.ts";

const folder = path.resolve(import.meta.dirname, "../../fixtures/providers/bedrock");

const newReader = () => new ConverseStreamReader({ name: "claude", version: 405 });

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

for (const name of [
  "internalServerException",
  "modelStreamErrorException",
  "serviceUnavailableException",
  "throttlingException",
  "validationException",
  "exceptionOfTomorrowException",
  "unmodeledError",
]) {
  test(`${name} reaches the client and leaves the stream unfinished`, (t) => {
    const reader = newReader();
    const failure = event(name, { message: "It went wrong.", originalStatusCode: 500 });
    t.throws(() => readAll([text, failure], reader), {
      instanceOf: GatewayError,
      code: "upstream_error",
      message: "It went wrong.",
    });
    t.is(reader.state, "unfinished");
  });
}

test("an exception without a message is still an exception", (t) => {
  t.throws(() => readAll([event("throttlingException", {})]), { code: "upstream_error" });
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

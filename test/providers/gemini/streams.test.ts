import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "ava";
import { GatewayError } from "../../../gateway/errors.ts";
import {
  GenerateStreamReader,
  readGenerateAnswer,
} from "../../../gateway/providers/gemini/generate-stream-reader.ts";

const folder = path.resolve(import.meta.dirname, "../../fixtures/providers/gemini");

const event = (value: unknown) => ({ name: "", data: JSON.stringify(value) });
const piece = (candidate: object) => event({ candidates: [{ index: 0, ...candidate }] });
const text = (words: string) => ({ content: { role: "model", parts: [{ text: words }] } });

for (const file of globSync("*.chunks.txt", { cwd: folder }).toSorted()) {
  test(`${file} is unfinished until its last event`, (t) => {
    const events = readFileSync(path.join(folder, file), "utf8")
      .split(/\r?\n\r?\n/)
      .filter((line) => line !== "");
    const reader = new GenerateStreamReader();
    for (const line of events) {
      t.is(reader.state, "unfinished");
      reader.read({ name: "", data: line.replace(/^data: /, "") });
    }
    t.is(reader.state, "finished");
  });
}

test("a stream without a regular end is unfinished", (t) => {
  for (const events of [
    [],
    [event({})],
    [event({ candidates: [] })],
    [event({ usageMetadata: { promptTokenCount: 3 } })],
    [event({ promptFeedback: {} })],
    [event({ promptFeedback: { blockReason: "BLOCK_REASON_UNSPECIFIED" } })],
    [piece(text("a"))],
    [piece({ finishReason: "FINISH_REASON_UNSPECIFIED" })],
    [piece({ finishReason: null }), piece({ finishReason: 1 }), piece({ finishMessage: "STOP" })],
    [event({ candidates: [{ finishReason: "STOP" }, { index: 1, ...text("b") }] })],
  ]) {
    const reader = new GenerateStreamReader();
    for (const each of events) reader.read(each);
    t.is(reader.state, "unfinished");
  }
});

test("chunks after the end are passed on, and the end is sent once", (t) => {
  const reader = new GenerateStreamReader();
  const choices = [
    ...reader.read(piece({ ...text("a"), finishReason: "STOP" })),
    ...reader.read(piece({ ...text("b"), finishReason: "STOP" })),
    ...reader.read(event({ usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2 } })),
  ];
  t.deepEqual(choices, [
    { index: 0, delta: { content: "a" }, finish_reason: "stop" },
    { index: 0, delta: { content: "b" }, finish_reason: null },
  ]);
  t.is(reader.state, "finished");
  t.is(reader.usage?.total_tokens, 5);
});

test("counts stay unchanged when an event has none", (t) => {
  const reader = new GenerateStreamReader();
  t.is(reader.usage, null);
  reader.read(event({ usageMetadata: { promptTokenCount: 3 } }));
  reader.read(event({ usageMetadata: { trafficType: "ON_DEMAND" } }));
  reader.read(piece(text("a")));
  t.is(reader.usage?.prompt_tokens, 3);
});

test("an error mid-stream is the upstream's and keeps its message", (t) => {
  const reader = new GenerateStreamReader();
  const message = "The model is overloaded. Please try again later.";
  const error = t.throws(() => reader.read(event({ error: { code: 503, message, status: "UNAVAILABLE" } })), {
    instanceOf: GatewayError,
  });
  t.like(error, { code: "upstream_error", message });
  t.is(reader.state, "unfinished");
});

for (const reason of [
  "MALFORMED_FUNCTION_CALL",
  "UNEXPECTED_TOOL_CALL",
  "OTHER",
  "OF_TOMORROW",
  "constructor",
]) {
  test(`the end ${reason} is a failure, in streams and in complete responses`, (t) => {
    const candidate = { ...text("a"), finishReason: reason, finishMessage: "Malformed function call: f(" };
    const reader = new GenerateStreamReader();
    for (const read of [
      () => reader.read(piece(candidate)),
      () => readGenerateAnswer({ candidates: [candidate] }),
    ]) {
      const error = t.throws(read, { instanceOf: GatewayError });
      t.like(error, {
        code: "upstream_error",
        message: `The model failed with ${reason} (Malformed function call: f(). Retry the request.`,
      });
    }
    t.is(reader.state, "unfinished");
  });
}

test("an invalid response is rejected", (t) => {
  for (const answer of [
    null,
    [],
    "Hello",
    {},
    { candidates: [] },
    { candidates: [null] },
    { candidates: [text("a")] },
    { candidates: [{ ...text("a"), finishReason: "FINISH_REASON_UNSPECIFIED" }] },
    { error: { message: "no" } },
  ]) {
    t.throws(() => readGenerateAnswer(answer));
  }
});

test("a finished stream does not finish twice", (t) => {
  const reader = new GenerateStreamReader();
  t.is(reader.read(piece({ ...text("a"), finishReason: "STOP" }))[0]?.finish_reason, "stop");
  t.deepEqual(reader.read(event({ promptFeedback: { blockReason: "OTHER" } })), []);
  t.is(reader.state, "finished");
});

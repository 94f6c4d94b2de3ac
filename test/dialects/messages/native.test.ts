import test from "ava";
import fc from "fast-check";
import { messages } from "../../../gateway/dialects/messages/messages.ts";
import {
  MessageEvents,
  nativeMessages as native,
} from "../../../gateway/dialects/messages/native-messages.ts";
import { GatewayError } from "../../../gateway/errors.ts";

const slug = "anthropic/claude";

test("a complete response keeps its bytes except for the model's name", (t) => {
  const text =
    '{ "id":"msg_1", "model" : "claude-opus-4-6","content":[{"type":"text","text":"\\"model\\":\\"x\\" \\ud83e\\udd14"}],\n"usage":{"input_tokens":5,"cache_read_input_tokens":7,"output_tokens":12345678901234567890} }';
  const { bytes, usage } = native.readAnswer(Buffer.from(text), slug);
  t.is(bytes.toString(), text.replace('"claude-opus-4-6"', '"anthropic/claude"'));
  t.deepEqual(usage, {
    inputTokens: 12,
    outputTokens: null,
    cachedInputTokens: 7,
    cacheWriteInputTokens: null,
    reasoningTokens: null,
  });
});

test("a missing model name is added, and a duplicated one is replaced everywhere", (t) => {
  const read = (text: string) => native.readAnswer(Buffer.from(text), slug).bytes.toString();
  t.is(read('{"content":[]}'), '{"model":"anthropic/claude","content":[]}');
  t.is(
    read('{"model":1,"content":[],"mod\\u0065l":"b"}'),
    '{"model":"anthropic/claude","content":[],"mod\\u0065l":"anthropic/claude"}',
  );
});

for (const text of ["", "[]", "{}", '{"content":1}', '{"content":[]', '{"content":[],"usage":{', "<html>"]) {
  test(`an invalid response throws: ${text}`, (t) => {
    t.throws(() => native.readAnswer(Buffer.from(text), slug));
  });
}

const start =
  '{"type":"message_start","message":{"id":"msg_1","model":"m","usage":{"input_tokens":1,"output_tokens":1}}}';
const delta = '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}';

test("only a stream with a start and a stop reason has ended", (t) => {
  const read = (...events: [string, string][]) => {
    const reader = new MessageEvents(slug);
    return events.map(([name, data]) => reader.read({ name, data }).ending).at(-1);
  };
  t.is(read(["message_start", start], ["message_delta", delta], ["message_stop", "{}"]), "done");
  t.throws(() => read(["message_stop", "{}"]));
  t.throws(() => read(["message_start", start], ["message_stop", "{}"]));
  t.throws(() => read(["message_delta", delta], ["message_stop", "{}"]));
});

test("counts stay unchanged where the last event omits them", (t) => {
  const reader = new MessageEvents(slug);
  t.is(reader.usage, null);
  reader.read({ name: "message_start", data: start });
  t.like(reader.usage, { inputTokens: 1, outputTokens: 1 });
  reader.read({ name: "message_delta", data: delta });
  t.like(reader.usage, { inputTokens: 1, outputTokens: 9 });
});

test("an error repeats the upstream's message, if any", (t) => {
  const read = (data: string) => new MessageEvents(slug).read({ name: "error", data }).ending;
  const error = read('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}');
  t.true(error instanceof GatewayError && error.code === "upstream_error" && error.message === "Overloaded");
  const text = read('{"error":"x"}');
  t.true(text instanceof GatewayError && text.message === "x");
  for (const data of ['{"error":{}}', "{}"]) {
    const other = read(data);
    t.true(other instanceof GatewayError && other.message.includes("reported an error"));
  }
});

test("any event is read or rejected, and only the name changes", (t) => {
  fc.assert(
    fc.property(fc.json(), fc.json(), (usage, content) => {
      const data = `{"message":{"content":${content},"model":"m","usage":${usage}},"type":"message_start"}`;
      const reader = new MessageEvents(slug);
      const read = reader.read({ name: "message_start", data });
      if (read.data !== data.replace('"model":"m"', `"model":"${slug}"`)) throw new Error(String(read.data));
      void reader.usage;
    }),
  );
  t.pass();
});

const shown = {
  message: "No.",
  type: "server_error",
  param: null,
  code: "some_code",
  requestId: "req_1",
  details: null,
};

for (const [status, type] of [
  [400, "invalid_request_error"],
  [401, "authentication_error"],
  [402, "billing_error"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [405, "invalid_request_error"],
  [408, "invalid_request_error"],
  [413, "request_too_large"],
  [422, "invalid_request_error"],
  [429, "rate_limit_error"],
  [500, "api_error"],
  [502, "api_error"],
  [503, "overloaded_error"],
  [504, "timeout_error"],
  [529, "overloaded_error"],
  [599, "api_error"],
] as const) {
  test(`status ${status} becomes ${type}`, (t) => {
    const error = { type: "error", error: { type, message: "No." }, request_id: "req_1" };
    t.deepEqual(messages.formatError({ ...shown, status }), error);
    t.is(
      messages.formatErrorEvent({ ...shown, status }, null),
      `event: error\ndata: ${JSON.stringify(error)}\n\n`,
    );
  });
}

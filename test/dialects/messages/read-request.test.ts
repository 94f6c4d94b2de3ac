import test from "ava";
import { GatewayError } from "../../../gateway/errors.ts";
import {
  readCountRequest,
  readMessagesRequest,
} from "../../../gateway/dialects/messages/read-messages-request.ts";
import { bodyLimits } from "../../helpers/body-limits.ts";

const whole = { model: "a/b", max_tokens: 1, messages: [{ role: "user", content: "Hi" }] };

test("reading extracts what the gateway needs and ignores the rest", (t) => {
  const bytes = Buffer.from(
    '{"new_field":{"a":[1]},"messages":[{"role":"user","content":"\\"model\\":"}], "model" : "anthropic/claude","max_tokens":5,"stream":true}',
  );
  const request = readMessagesRequest(bytes, bodyLimits);
  t.is(request.model, "anthropic/claude");
  t.true(request.stream);
  t.is(request.bytes, bytes);
  t.deepEqual(
    request.modelRange && bytes.toString("utf8", request.modelRange.start, request.modelRange.end),
    '"anthropic/claude"',
  );
});

test("a duplicated member has no byte range", (t) => {
  const bytes = Buffer.from(
    '{"model":"a/b","max_tokens":1,"messages":[{"role":"user","content":"Hi"}],"model":"c/d"}',
  );
  const request = readMessagesRequest(bytes, bodyLimits);
  t.is(request.model, "c/d");
  t.is(request.modelRange, null);
});

for (const [title, body, code, param] of [
  ["no model", { ...whole, model: undefined }, "missing_required_parameter", "model"],
  ["a model that is no text", { ...whole, model: 1 }, "invalid_type", "model"],
  ["no messages", { ...whole, messages: undefined }, "missing_required_parameter", "messages"],
  ["no message", { ...whole, messages: [] }, "invalid_value", "messages"],
  ["invalid messages", { ...whole, messages: {} }, "invalid_type", "messages"],
  ["an invalid message", { ...whole, messages: [1] }, "invalid_type", "messages[0]"],
  ["no role", { ...whole, messages: [{ content: "" }] }, "missing_required_parameter", "messages[0].role"],
  [
    "a role of OpenAI's",
    { ...whole, messages: [{ role: "tool", content: "" }] },
    "invalid_value",
    "messages[0].role",
  ],
  [
    "no content",
    { ...whole, messages: [{ role: "user" }] },
    "missing_required_parameter",
    "messages[0].content",
  ],
  [
    "invalid content",
    { ...whole, messages: [{ role: "user", content: null }] },
    "invalid_type",
    "messages[0].content",
  ],
  ["no limit", { ...whole, max_tokens: undefined }, "missing_required_parameter", "max_tokens"],
  ["an invalid limit", { ...whole, max_tokens: "1" }, "invalid_type", "max_tokens"],
  ["a limit below 0", { ...whole, max_tokens: -1 }, "invalid_value", "max_tokens"],
  ["a temperature of OpenAI's", { ...whole, temperature: 1.5 }, "invalid_value", "temperature"],
  ["a text for stream", { ...whole, stream: "true" }, "invalid_type", "stream"],
  ["invalid instructions", { ...whole, system: 7 }, "invalid_type", "system"],
  ["invalid tools", { ...whole, tools: {} }, "invalid_type", "tools"],
  ["invalid thinking", { ...whole, thinking: true }, "invalid_type", "thinking"],
] as const) {
  test(`the request is rejected: ${title}`, (t) => {
    const error = t.throws(() => readMessagesRequest(Buffer.from(JSON.stringify(body)), bodyLimits), {
      instanceOf: GatewayError,
    });
    t.is(error?.code, code);
    t.is(error?.param, param);
  });
}

test("null counts as missing, except for required members", (t) => {
  const body = { ...whole, system: null, tools: null, thinking: null, temperature: null, stream: null };
  t.notThrows(() => readMessagesRequest(Buffer.from(JSON.stringify(body)), bodyLimits));
  t.throws(() =>
    readMessagesRequest(Buffer.from(JSON.stringify({ ...whole, max_tokens: null })), bodyLimits),
  );
});

test("a request to count tokens needs no limit and no stream", (t) => {
  const { max_tokens: _limit, ...body } = { ...whole, stream: true };
  const request = readCountRequest(Buffer.from(JSON.stringify(body)), bodyLimits);
  t.false(request.stream);
  t.is(request.model, "a/b");
});

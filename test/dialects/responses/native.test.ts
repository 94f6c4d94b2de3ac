import { readFileSync } from "node:fs";
import path from "node:path";
import test from "ava";
import {
  ResponseEvents,
  nativeResponses as native,
} from "../../../gateway/dialects/responses/native-responses.ts";
import { GatewayError } from "../../../gateway/errors.ts";

const slug = 'openai/gpt-5.5 "best"';

const folder = path.resolve(import.meta.dirname, "../../fixtures/dialects/responses");
const recorded = readFileSync(path.join(folder, "native.upstream.txt"), "utf8");

function relay(stream: string) {
  const reader = new ResponseEvents(slug);
  const endings: unknown[] = [];
  const text = stream.replaceAll(
    /event: (.+)\ndata: (.+)\n/g,
    (event: string, name: string, data: string) => {
      if (!reader.eventNames.has(name)) return event;
      const read = reader.read({ name, data });
      if (read.ending !== null) endings.push(read.ending);
      return read.data === null ? event : `event: ${name}\ndata: ${read.data}\n`;
    },
  );
  return { text, endings, usage: reader.usage };
}

test("a stream passes byte for byte except for the model's name", (t) => {
  const { text, endings, usage } = relay(recorded);
  const name = '"model":"gpt-5.5-2026-04-23"';
  t.is(recorded.split(name).length, 4);
  t.is(text, recorded.replaceAll(name, `"model":${JSON.stringify(slug)}`));
  t.deepEqual(endings, ["done"]);
  t.deepEqual(usage, {
    inputTokens: 9310,
    outputTokens: 120,
    cachedInputTokens: 9216,
    cacheWriteInputTokens: null,
    reasoningTokens: 64,
  });
});

test("only the last event ends a stream", (t) => {
  const events = recorded.split("\n\n").slice(0, -1);
  for (let count = 0; count < events.length; count++) {
    t.is(relay(`${events.slice(0, count).join("\n\n")}\n\n`).endings.length, 0);
  }
});

const endOf = (type: string, response: object) => {
  const reader = new ResponseEvents(slug);
  const { ending } = reader.read({ name: type, data: JSON.stringify({ type, response }) });
  return { ending, usage: reader.usage };
};

test("an incomplete response ends its stream normally", (t) => {
  const { ending, usage } = endOf("response.incomplete", {
    status: "incomplete",
    incomplete_details: { reason: "max_output_tokens" },
    model: "m",
    usage: { input_tokens: 1, output_tokens: 2, output_tokens_details: { reasoning_tokens: 3 } },
  });
  t.is(ending, "done");
  t.like(usage, { inputTokens: 1, outputTokens: 2, cachedInputTokens: null, reasoningTokens: 3 });
});

test("a failure has the upstream's message, and its usage counts", (t) => {
  const error = {
    code: "context_length_exceeded",
    message: "Your input exceeds the context window of this model.",
  };
  const { ending, usage } = endOf("response.failed", {
    status: "failed",
    error,
    usage: { input_tokens: 7, output_tokens: 0 },
  });
  t.true(ending instanceof GatewayError);
  t.like(ending, {
    code: "upstream_rejected",
    message: error.message,
    upstream: { code: error.code, status: 400 },
  });
  t.is(usage?.inputTokens, 7);
});

test("both of OpenAI's error forms are read as errors", (t) => {
  const reader = new ResponseEvents(slug);
  for (const data of [
    {
      type: "error",
      sequence_number: 3,
      error: { type: "server_error", code: "server_error", message: "Sorry.", param: null },
    },
    { type: "error", sequence_number: 3, code: "server_error", message: "Sorry.", param: null },
  ]) {
    const { ending } = reader.read({ name: "error", data: JSON.stringify(data) });
    t.like(ending, { code: "upstream_error", message: "Sorry.", upstream: { code: "server_error" } });
  }
  for (const data of ["{}", "null", '{"error":{"message":1,"code":"a b"}}']) {
    const { ending } = reader.read({ name: "error", data });
    t.like(ending, {
      message: "The provider reported an error mid-stream. Retry the request.",
      upstream: null,
    });
  }
});

test("an unknown event is rejected", (t) => {
  for (const name of ["response.created", "response.completed", "response.failed"]) {
    for (const data of [
      "",
      "[]",
      "null",
      "{}",
      '{"response":null}',
      '{"response":[{}]}',
      '{"response":{"model":"m"}',
      "[DONE]",
    ]) {
      t.throws(() => new ResponseEvents(slug).read({ name, data }), undefined, `${name} ${data}`);
    }
  }
});

test("a complete response passes byte for byte except for the model's name", (t) => {
  const answer = (model: string) =>
    `{ "id":"resp_1", "big": 12345678901234567890, "output": [ {"model":"inner"} ],\n ${model}"usage": {"input_tokens": 5,"input_tokens_details":{"cached_tokens":4},"output_tokens":2}, "text":"🌍" }\n`;
  const { bytes, usage } = native.readAnswer(Buffer.from(answer('"model" : "gpt-5.5-2026", ')), slug);
  t.is(bytes.toString(), answer(`"model" : ${JSON.stringify(slug)}, `));
  t.like(usage, { inputTokens: 5, outputTokens: 2, cachedInputTokens: 4 });
  const without = native.readAnswer(Buffer.from(answer("")), slug).bytes.toString();
  t.is(without, answer("").replace("{", `{"model":${JSON.stringify(slug)},`));
});

test("an invalid response is rejected", (t) => {
  for (const text of ["", "[]", "{}", '{"output":{}}', '{"output":[]', '{"error":{"message":"x"}}']) {
    t.throws(() => native.readAnswer(Buffer.from(text), slug), { instanceOf: GatewayError }, text);
  }
});

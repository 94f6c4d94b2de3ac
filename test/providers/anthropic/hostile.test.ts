import test from "ava";
import fc from "fast-check";
import { GatewayError } from "../../../gateway/errors.ts";
import { anthropic } from "../../../gateway/providers/anthropic/anthropic.ts";
import { attempt, jsonOf, requestsOf } from "../hostile-json.ts";
import { cpuMsSince } from "../../helpers/cpu-ms-since.ts";

const models = ["claude-haiku-4-5", "claude-opus-4-8", "claude-sonnet-5-5", "some-model"];

function chatOf(name: string) {
  const api = anthropic.connect({ baseUrl: "https://example.com/v1", secret: null, preset: null });
  const chat = api.chat({ name, outputTokensMax: null });
  if (chat.quirks !== null) throw new Error("Anthropic speaks a form of its own");
  return chat;
}

const words =
  "text type image_url url input_audio file file_data file_id filename function name arguments id tool_calls tool_call_id reasoning_details anthropic-claude-v1 format index signature data content refusal audio parameters properties items anyOf minimum description strict json_schema json_object schema auto none required high cache_control thinking enabled adaptive budget_tokens tool_use tool_use_id input text_delta thinking_delta signature_delta input_json_delta partial_json stop_reason end_turn usage input_tokens __proto__ constructor".split(
    " ",
  );

const json = jsonOf(words);

const parameters =
  "stop tool_choice parallel_tool_calls response_format reasoning_effort thinking top_k cache_control n logprobs top_logprobs logit_bias modalities audio functions function_call user metadata".split(
    " ",
  );

const request = requestsOf(words, parameters);

const wellFormed = /^[\w.[\]]+$/;

test("any input becomes a valid request or a GatewayError that names the member", (t) => {
  let built = 0;
  fc.assert(
    fc.property(request, fc.constantFrom(...models), (body, name) => {
      const before = JSON.stringify(body);
      try {
        const sent = JSON.parse(
          JSON.stringify(chatOf(name).buildRequest(body, { name, outputTokensMax: null })),
        );
        t.is(typeof sent.max_tokens, "number");
        built++;
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        t.regex(error.code, /^(unsupported_parameter|invalid_value|invalid_type)$/);
        t.regex(String(error.param), wellFormed);
      }
      t.is(JSON.stringify(body), before, "the client's request stays as it was");
    }),
    { numRuns: 3_000 },
  );
  t.true(built > 100, `${built} requests were built`);
});

test("any output becomes a response, or an error without an end", (t) => {
  const { readAnswer, createStreamReader } = chatOf("claude-opus-4-8");
  const types =
    "message_start content_block_start content_block_delta content_block_stop message_delta message_stop error other".split(
      " ",
    );
  const event = fc
    .tuple(
      fc.constantFrom(...types),
      fc.dictionary(fc.constantFrom("index", "delta", "content_block", "message", "usage", "error"), json),
    )
    .map(([type, fields]) => JSON.stringify({ ...fields, type }));
  fc.assert(
    fc.property(json, fc.array(json, { maxLength: 4 }), (answer, content) => {
      for (const each of [answer, { content, stop_reason: "end_turn", usage: answer }]) {
        attempt(() => readAnswer(each));
      }
    }),
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(event, fc.string()), { maxLength: 8 }), (events) => {
      const reader = createStreamReader();
      let finished = false;
      for (const data of events) {
        const choices = attempt(() => reader.read({ name: "", data })) ?? [];
        finished ||= choices.some((choice) => choice.finish_reason !== null);
        t.is(reader.state !== "unfinished", finished);
        JSON.stringify([choices, reader.usage]);
      }
    }),
    { numRuns: 1_000 },
  );
});

test("many parts take linear time", (t) => {
  const text = { type: "text", text: "a" };
  const details = Array.from({ length: 20_000 }, (_, index) => ({
    type: "reasoning.text",
    format: "anthropic-claude-v1",
    index: index % 2 === 0 ? index : -index,
    signature: "s",
  }));
  const body = {
    model: "m",
    messages: [
      { role: "user" as const, content: Array(200_000).fill(text) },
      { role: "user" as const, content: Array(200_000).fill(text) },
      { role: "assistant" as const, content: "Hi", reasoning_details: details },
    ],
  };
  const before = process.cpuUsage();
  chatOf("claude-opus-5-5").buildRequest(body, { name: "claude-opus-5-5", outputTokensMax: null });
  t.true(cpuMsSince(before) < 5_000);
});

test("deeply nested and invalid arguments of a call are wrapped", (t) => {
  const call = (args: string) => {
    const calls = [{ id: "c1", type: "function", function: { name: "f", arguments: args } }];
    const messages = [
      { role: "user" as const, content: "x" },
      { role: "assistant" as const, content: null, tool_calls: calls },
      { role: "tool" as const, tool_call_id: "c1", content: "y" },
    ];
    const model = { name: "claude-haiku-4-5", outputTokensMax: null };
    return JSON.stringify(chatOf(model.name).buildRequest({ model: "a/b", messages }, model));
  };
  const deep = `{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
  t.true(call(deep).includes(`"input":{"INVALID_JSON":${JSON.stringify(deep)}}`));
  t.true(call('{"a":[[1]]}').includes('"input":{"a":[[1]]}'));
});

import test from "ava";
import { responses } from "../../../gateway/dialects/responses/responses.ts";
import { GatewayError } from "../../../gateway/errors.ts";
import { bodyLimits } from "../../helpers/body-limits.ts";

const read = (text: string) => responses.readRequest(Buffer.from(text), bodyLimits);

test("reading locates the model and keeps the bytes", (t) => {
  const text = `{ "input": "hi 🌍", "stream": true,\n "model" : "openai/gpt-5.5" , "new_field": 1e400 }`;
  const { bytes, model, modelRange, stream } = read(text);
  t.is(bytes.toString(), text);
  t.is(model, "openai/gpt-5.5");
  t.is(bytes.toString("utf8", modelRange?.start, modelRange?.end), '"openai/gpt-5.5"');
  t.true(stream);
  t.false(read('{"model":"a/b","input":[]}').stream);
});

test("a duplicated member has no byte range", (t) => {
  t.is(read('{"model":"a/b","input":"x","model":"c/d"}').modelRange, null);
  t.is(read('{"model":"a/b","input":"x","input":"y"}').modelRange, null);
  t.not(read('{"model":"a/b","input":"x","new":1,"new":2}').modelRange, null);
});

test("stored state is accepted in place of the input, and translation rejects it", (t) => {
  for (const more of [
    '"prompt":{"id":"pmpt_1"}',
    '"previous_response_id":"resp_1"',
    '"conversation":"conv_1"',
  ]) {
    t.notThrows(() => read(`{"model":"a/b",${more}}`));
  }
});

const wrong: [body: string, code: string, param: string | null][] = [
  ["[]", "invalid_body", null],
  ['{"model":', "invalid_body", null],
  ["{}", "missing_required_parameter", "model"],
  ['{"model":1,"input":"x"}', "invalid_type", "model"],
  ['{"model":"a/b"}', "missing_required_parameter", "input"],
  ['{"model":"a/b","input":null,"prompt":null}', "missing_required_parameter", "input"],
  ['{"model":"a/b","input":{}}', "invalid_type", "input"],
  ['{"model":"a/b","input":["x"]}', "invalid_type", "input[0]"],
  ...[
    ["stream", '"yes"'],
    ["store", "1"],
    ["background", '"no"'],
    ["instructions", "[]"],
    ["previous_response_id", "1"],
    ["conversation", "1"],
    ["prompt", '"p"'],
    ["tools", "{}"],
    ["tool_choice", "1"],
    ["parallel_tool_calls", '"yes"'],
    ["max_tool_calls", "1.5"],
    ["reasoning", '"high"'],
    ["text", '"short"'],
    ["temperature", '"hot"'],
    ["top_logprobs", "0.5"],
    ["max_output_tokens", '"16"'],
    ["truncation", "true"],
    ["include", '"x"'],
    ["metadata", "[]"],
    ["user", "1"],
    ["prompt_cache_key", "1"],
  ].map(
    ([name, value]) =>
      [`{"model":"a/b","input":"x","${name}":${value}}`, "invalid_type", name ?? null] as [
        string,
        string,
        string,
      ],
  ),
  ['{"model":"a/b","input":"x","temperature":2.1}', "invalid_value", "temperature"],
  ['{"model":"a/b","input":"x","top_p":-1}', "invalid_value", "top_p"],
  ['{"model":"a/b","input":"x","top_logprobs":21}', "invalid_value", "top_logprobs"],
  ['{"model":"a/b","input":"x","max_output_tokens":0}', "invalid_value", "max_output_tokens"],
];

for (const [body, code, param] of wrong) {
  test(`the body ${body} is rejected`, (t) => {
    const error = t.throws(() => read(body), { instanceOf: GatewayError });
    t.is<string | undefined, string>(error?.code, code);
    t.is(error?.param, param);
  });
}

test("null counts as missing, and unknown members are ignored", (t) => {
  t.notThrows(() =>
    read(
      '{"model":"a/b","input":"x","temperature":null,"tools":null,"text":null,"whatever":{"a":[1]},"seed":"x"}',
    ),
  );
});

import { readFileSync } from "node:fs";
import path from "node:path";
import test from "ava";
import {
  nativeResponses as native,
  ResponseEvents,
} from "../../../gateway/dialects/responses/native-responses.ts";
import { responses } from "../../../gateway/dialects/responses/responses.ts";
import { GatewayError } from "../../../gateway/errors.ts";
import { bodyLimits } from "../../helpers/body-limits.ts";
import { requestFrom } from "./read-events.ts";

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

const command = { type: "function", name: "run", parameters: {} };
const search = { type: "web_search" };

const table: [title: string, request: object, code: string, param: string][] = [
  unsupported("an earlier response", { input: "x", previous_response_id: "resp_1" }, "previous_response_id"),
  unsupported("a conversation", { conversation: { id: "conv_1" } }, "conversation"),
  unsupported("an answer for later", { input: "x", background: true }, "background"),
  unsupported("a template", { prompt: { id: "pmpt_1" } }, "prompt"),
  unsupported("a reference", inputOf({ type: "item_reference", id: "msg_2" }), "input[0]"),
  unsupported("a sealed summary", inputOf({ type: "compaction", encrypted_content: "gAAAA" }), "input[0]"),
  unsupported("a wish for a summary", inputOf({ type: "compaction_trigger" }), "input[0]"),
  unsupported("a computer", inputOf({ type: "computer_call", call_id: "c" }), "input[0]"),
  unsupported("an unknown item", inputOf({ type: "telepathy" }), "input[0]"),
  unsupported(
    "a kept image",
    partOf({ type: "input_image", file_id: "file-1" }),
    "input[0].content[0].file_id",
  ),
  unsupported(
    "a kept file",
    partOf({ type: "input_file", file_id: "file-1" }),
    "input[0].content[0].file_id",
  ),
  unsupported("an unknown part", partOf({ type: "input_smell" }), "input[0].content[0].type"),
  unsupported(
    "an image that the model shows",
    inputOf({ role: "assistant", content: [{ type: "input_image", image_url: "x" }] }),
    "input[0].content[0].type",
  ),
  unsupported(
    "a tool of OpenAI's by force",
    toolsOf([search], { type: "web_search_preview" }),
    "tool_choice",
  ),
  unsupported(
    "an unknown format",
    toolsOf([{ type: "custom", name: "a", format: { type: "x" } }]),
    "tools[0].format.type",
  ),
  unsupported(
    "a namespace in a namespace",
    toolsOf([{ type: "namespace", name: "a", description: "", tools: [{ type: "namespace" }] }]),
    "tools[0].tools[0].type",
  ),

  ["a role of tools", inputOf({ role: "tool", content: "x" }), "invalid_value", "input[0].role"],
  ["nothing said", { input: [] }, "invalid_value", "input"],
  ["any tool, of none", toolsOf([search], "required"), "invalid_value", "tool_choice"],
  ["an unknown choice", toolsOf([command], "maybe"), "invalid_value", "tool_choice"],
  [
    "a tool that is not there",
    toolsOf([command], { type: "function", name: "b" }),
    "invalid_value",
    "tool_choice.name",
  ],
  [
    "a list with a tool that is not there",
    toolsOf([command], { type: "allowed_tools", mode: "auto", tools: [{ type: "custom", name: "run" }] }),
    "invalid_value",
    "tool_choice.tools[0].name",
  ],
  [
    "an unknown form of text",
    { input: "x", text: { format: { type: "yaml" } } },
    "invalid_value",
    "text.format.type",
  ],
  ["a tool with a strange name", toolsOf([{ ...command, name: "a b" }]), "invalid_value", "tools[0].name"],
  [
    "an unknown grammar",
    toolsOf([{ type: "custom", name: "a", format: { type: "grammar", syntax: "bnf", definition: "" } }]),
    "invalid_value",
    "tools[0].format.syntax",
  ],

  [
    "a message without a role",
    inputOf({ type: "message", content: "x" }),
    "missing_required_parameter",
    "input[0].role",
  ],
  ["an item without a type", inputOf({ content: "x" }), "missing_required_parameter", "input[0].type"],
  ["a type that is no text", inputOf({ type: 1 }), "invalid_type", "input[0].type"],
  ["a message without content", inputOf({ role: "user" }), "invalid_type", "input[0].content"],
  ["an invalid part", inputOf({ role: "user", content: ["x"] }), "invalid_type", "input[0].content[0]"],
  ["an invalid text", partOf({ type: "input_text", text: 1 }), "invalid_type", "input[0].content[0].text"],
  [
    "a call without arguments",
    inputOf({ type: "function_call", call_id: "c", name: "a" }),
    "invalid_type",
    "input[0].arguments",
  ],
  [
    "a call without an id",
    inputOf({ type: "custom_tool_call", name: "a", input: "" }),
    "invalid_type",
    "input[0].call_id",
  ],
  [
    "an invalid output",
    inputOf({ type: "function_call_output", call_id: "c", output: {} }),
    "invalid_type",
    "input[0].output",
  ],
  ["invalid thoughts", inputOf({ type: "reasoning", summary: ["x"] }), "invalid_type", "input[0].summary[0]"],
  ["an invalid tool", toolsOf(["run"]), "invalid_type", "tools[0]"],
  [
    "invalid found tools",
    inputOf({ type: "tool_search_output", call_id: "c", tools: [1] }),
    "invalid_type",
    "input[0].tools[0]",
  ],
  [
    "a schema without a name",
    { input: "x", text: { format: { type: "json_schema", schema: {} } } },
    "invalid_type",
    "text.format.name",
  ],
  ["an effort that is no text", { input: "x", reasoning: { effort: 3 } }, "invalid_type", "reasoning.effort"],
];

for (const [title, request, code, param] of table) {
  test(`the request is rejected: ${title}`, (t) => {
    const read = () => responses.toChatRequest(requestFrom({ model: "x/y", ...request }));
    const error = t.throws(read, { instanceOf: GatewayError });
    t.is<string | undefined, string>(error?.code, code);
    t.is(error?.param, param);
  });
}

function unsupported(title: string, request: object, param: string): [string, object, string, string] {
  return [title, request, "unsupported_parameter", param];
}

function inputOf(item: object): object {
  return { input: [item, { role: "user", content: "x" }] };
}

function partOf(part: object): object {
  return inputOf({ role: "user", content: [part] });
}

function toolsOf(tools: unknown[], choice?: unknown): object {
  return { input: "x", tools, tool_choice: choice };
}

test("an earlier turn with only a refusal is kept", (t) => {
  const refusal = { role: "assistant", content: [{ type: "refusal", refusal: "No." }] };
  const { messages } = responses.toChatRequest(requestFrom({ model: "x/y", ...inputOf(refusal) }));
  t.deepEqual(messages, [
    { role: "assistant", content: null, refusal: "No." },
    { role: "user", content: "x" },
  ]);
});

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

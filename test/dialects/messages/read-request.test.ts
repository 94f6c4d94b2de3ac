import test from "ava";
import { messages } from "../../../gateway/dialects/messages/messages.ts";
import {
  readCountRequest,
  readMessagesRequest,
} from "../../../gateway/dialects/messages/read-messages-request.ts";
import { GatewayError } from "../../../gateway/errors.ts";
import { bodyLimits } from "../../helpers/body-limits.ts";
import { requestFrom, toChat } from "./messages-dialect.ts";

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

const thinkingRequests: [string, { thinking?: object; output_config?: { effort: string } }][] = [
  ["nothing said", {}],
  ["disabled", { thinking: { type: "disabled" }, output_config: { effort: "high" } }],
  ["adaptive", { thinking: { type: "adaptive" } }],
  [
    "adaptive, hidden",
    { thinking: { type: "adaptive", display: "omitted" }, output_config: { effort: "max" } },
  ],
  ["an effort alone", { output_config: { effort: "low" } }],
  ["between tools", { thinking: { type: "between_tools" } }],
  ["a budget", { thinking: { type: "enabled", budget_tokens: 1_024 } }],
  [
    "a budget and an effort",
    { thinking: { type: "enabled", budget_tokens: 1_024 }, output_config: { effort: "xhigh" } },
  ],
];

for (const [title, body] of thinkingRequests) {
  test(`thinking reaches the provider as requested: ${title}`, (t) => {
    const chat = toChat(body);
    t.deepEqual(chat["thinking"], body.thinking);
    t.is(chat["reasoning_effort"], body.output_config?.effort);
  });
}

for (const [title, body, chosen] of [
  ["auto", { tool_choice: { type: "auto" } }, {}],
  ["any", { tool_choice: { type: "any" } }, { tool_choice: "required" }],
  ["none", { tool_choice: { type: "none" } }, { tool_choice: "none" }],
  [
    "one",
    { tool_choice: { type: "tool", name: "f", disable_parallel_tool_use: true } },
    { tool_choice: { type: "function", function: { name: "f" } }, parallel_tool_calls: false },
  ],
  ["one that is not there", { tool_choice: { type: "tool", name: "g" } }, {}],
] as const) {
  test(`tool choice: ${title}`, (t) => {
    const { tool_choice, parallel_tool_calls } = toChat({
      ...body,
      tools: [{ name: "f", input_schema: { type: "object" } }],
    });
    t.deepEqual(
      {
        ...(tool_choice !== undefined && { tool_choice }),
        ...(parallel_tool_calls !== undefined && { parallel_tool_calls }),
      },
      chosen,
    );
  });
}

test("without tools the tool choice is dropped", (t) => {
  const chat = toChat({ tools: [], tool_choice: { type: "any", disable_parallel_tool_use: true } });
  t.deepEqual(Object.keys(chat).toSorted(), ["max_completion_tokens", "messages", "model"]);
});

test("the user is forwarded to other providers only as an id", (t) => {
  t.is(
    toChat({ metadata: { user_id: "13803d75-b4b5-4c3e-b2a2-6f21399b021b" } })["user"],
    "13803d75-b4b5-4c3e-b2a2-6f21399b021b",
  );
  for (const user_id of ['{"device_id":"a"}', "a".repeat(65), "", null, 1])
    t.is(toChat({ metadata: { user_id } })["user"], undefined);
});

test("a schema is strict where OpenAI accepts it as strict", (t) => {
  const strict = (schema: object) => {
    const format = toChat({ output_config: { format: { type: "json_schema", schema } } })[
      "response_format"
    ] as { json_schema: { strict: boolean } };
    return format.json_schema.strict;
  };
  const a = { a: { type: "string" } };
  t.true(strict({ type: "object", properties: a, required: ["a"], additionalProperties: false }));
  t.false(strict({ type: "object", properties: a, required: [], additionalProperties: false }));
  t.false(strict({ type: "object", properties: a, required: ["a"] }));
  t.false(strict({ type: "array", items: { type: "object", properties: a } }));
  t.true(
    strict({
      type: "object",
      properties: { properties: { type: "string" } },
      required: ["properties"],
      additionalProperties: false,
    }),
  );
});

for (const [title, body, param] of [
  ["filling a cache", { max_tokens: 0 }, "max_tokens"],
  [
    "a file kept by Anthropic",
    {
      messages: [
        { role: "user", content: [{ type: "document", source: { type: "file", file_id: "file_1" } }] },
      ],
    },
    "messages[0].content[0].source",
  ],
  [
    "a block that nobody knows",
    { messages: [{ role: "user", content: [{ type: "container_upload", file_id: "file_1" }] }] },
    "messages[0].content[0]",
  ],
  [
    "a block without a type",
    { messages: [{ role: "user", content: [{ text: "Hi" }] }] },
    "messages[0].content[0].type",
  ],
  [
    "an image without a source",
    { messages: [{ role: "user", content: [{ type: "image" }] }] },
    "messages[0].content[0].source",
  ],
  [
    "a result of nothing",
    { messages: [{ role: "user", content: [{ type: "tool_result" }] }] },
    "messages[0].content[0].tool_use_id",
  ],
  [
    "a call with a text for input",
    { messages: [{ role: "assistant", content: [{ type: "tool_use", id: "a", name: "f", input: "x" }] }] },
    "messages[0].content[0].input",
  ],
  [
    "an invalid cache marker",
    { system: [{ type: "text", text: "a", cache_control: true }] },
    "system[0].cache_control",
  ],
  ["a tool without a schema", { tools: [{ name: "f" }] }, "tools[0].input_schema"],
  [
    "an unknown choice",
    { tools: [{ name: "f", input_schema: {} }], tool_choice: { type: "some" } },
    "tool_choice.type",
  ],
  ["an unknown effort", { output_config: { effort: "huge" } }, "output_config.effort"],
  ["an invalid budget", { thinking: { type: "enabled", budget_tokens: "1" } }, "thinking.budget_tokens"],
  ["an unknown format", { output_config: { format: { type: "grammar" } } }, "output_config.format.type"],
  ["an invalid stop sequence", { stop_sequences: ["a", 1] }, "stop_sequences[1]"],
] as const) {
  test(`the request is rejected: ${title}`, (t) => {
    const error = t.throws(() => messages.toChatRequest(requestFrom(body)), { instanceOf: GatewayError });
    t.is(error?.param, param);
  });
}

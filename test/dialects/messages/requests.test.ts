import { readFileSync } from "node:fs";
import test from "ava";
import fc from "fast-check";
import { messages } from "../../../gateway/dialects/messages/messages.ts";
import {
  MessageEvents,
  nativeMessages as native,
} from "../../../gateway/dialects/messages/native-messages.ts";
import {
  readCountRequest,
  readMessagesRequest,
} from "../../../gateway/dialects/messages/read-messages-request.ts";
import { GatewayError } from "../../../gateway/errors.ts";
import { bodyLimits } from "../../helpers/body-limits.ts";
import { envelope, readEvents, requestFrom, says, toChat, viaJson, writeStream } from "./messages-dialect.ts";

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
  [
    "any, but one at a time",
    { tool_choice: { type: "any", disable_parallel_tool_use: true } },
    { tool_choice: "required", parallel_tool_calls: false },
  ],
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

const file = new URL(
  "messages.d.ts",
  import.meta.resolve("@anthropic-ai/sdk/resources/messages/messages.mjs"),
);
const sdkTypes = readFileSync(file, "utf8").replaceAll(/\/\*.*?\*\//gs, "");

/** The members that an interface of Anthropic's SDK requires. */
function requiredOf(name: string): string[] {
  const [, body] = new RegExp(`\\binterface ${name} \\{(.*?)\\}`, "s").exec(sdkTypes) ?? [];
  if (body === undefined) throw new Error(`The SDK has no interface ${name}.`);
  return [...body.matchAll(/^\s+(\w+):/gm)].map(([, member = ""]) => member);
}

const detail = { type: "reasoning.text" as const, format: "unknown", index: 0, text: "Hm." };
const sealed = { type: "reasoning.encrypted" as const, format: "google-gemini-v1", index: 1, data: "abc" };
const answered = {
  content: "Hi",
  reasoning_details: [detail, sealed],
  tool_calls: [{ index: 0, id: "a", type: "function" as const, function: { name: "f", arguments: "{}" } }],
};
const usages = [
  null,
  { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
  {
    prompt_tokens: 9,
    completion_tokens: 3,
    total_tokens: 12,
    prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 1 },
  },
];

type Members = Record<string, unknown>;

const blockTypes: Record<string, string> = {
  text: "TextBlock",
  tool_use: "ToolUseBlock",
  thinking: "ThinkingBlock",
  redacted_thinking: "RedactedThinkingBlock",
};

function* missingOf(value: unknown, name: string): Iterable<string> {
  for (const member of requiredOf(name)) {
    if ((value as Members)[member] === undefined) yield `${name}.${member}`;
  }
}

function* missingOfMessage(message: Members): Iterable<string> {
  yield* missingOf(message, "Message");
  yield* missingOf(message["usage"], "Usage");
  const cacheCreation = (message["usage"] as Members)["cache_creation"];
  if (cacheCreation !== null) yield* missingOf(cacheCreation, "CacheCreation");
  for (const block of message["content"] as Members[])
    yield* missingOf(block, blockTypes[String(block["type"])] ?? "");
}

for (const [index, usage] of usages.entries()) {
  test(`a message has every member that Anthropic always sends, usage ${index}`, (t) => {
    const choices = [{ index: 0, message: { role: "assistant", ...answered }, finish_reason: "tool_calls" }];
    const answer = { id: "c", object: "chat.completion", created: 1, model: "m", choices, usage };
    const message = viaJson(messages.formatAnswer(answer as never, envelope, requestFrom({}))) as Members;
    t.deepEqual(
      (message["content"] as Members[]).map(({ type }) => type),
      ["thinking", "text", "redacted_thinking", "tool_use"],
    );
    t.deepEqual([...missingOfMessage(message)], []);
  });

  test(`a stream has every member that Anthropic always sends, usage ${index}`, (t) => {
    const events = readEvents(writeStream([says(answered), says({}, "tool_calls")], usage));
    const started = new Set<unknown>();
    for (const event of events) {
      if (event.type === "message_start") t.deepEqual([...missingOfMessage(event["message"] as Members)], []);
      if (event.type === "content_block_start") {
        const block = event["content_block"] as Members;
        started.add(block["type"]);
        t.deepEqual([...missingOf(block, blockTypes[String(block["type"])] ?? "")], []);
      }
      if (event.type === "message_delta") {
        t.deepEqual([...missingOf(event["delta"], "Delta")], []);
        t.deepEqual([...missingOf(event["usage"], "MessageDeltaUsage")], []);
      }
    }
    t.deepEqual([...started].toSorted(), Object.keys(blockTypes).toSorted());
  });
}

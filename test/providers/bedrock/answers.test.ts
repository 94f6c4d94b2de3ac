import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { crc32 } from "node:zlib";
import test from "ava";
import { GatewayError } from "../../../gateway/errors.ts";
import { AwsEventStreamDecoder } from "../../../gateway/providers/bedrock/aws-event-stream-decoder.ts";
import { bedrock } from "../../../gateway/providers/bedrock/bedrock.ts";
import type { ConverseRequest } from "../../../gateway/providers/bedrock/converse-request.ts";
import { ConverseStreamReader } from "../../../gateway/providers/bedrock/converse-stream-reader.ts";
import { findModelFamily } from "../../../gateway/providers/bedrock/model-family.ts";
import type { ChatMessage } from "../../../gateway/wire/chat-completion.ts";
import type { UpstreamEvent } from "../../../gateway/wire/server-sent-events.ts";
import { frameAwsEvent } from "../../helpers/frame-events.ts";

const api = bedrock.connect({ baseUrl: "https://example.com", secret: null, preset: null });
const sonnet45 = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const user: ChatMessage = { role: "user", content: "Hi" };

function build(name: string, more: object, outputTokensMax: number | null = null): ConverseRequest {
  const model = { name, outputTokensMax };
  const chat = api.apis(model)["chat/completions"];
  if (chat.quirks !== null) throw new Error("Bedrock speaks a form of its own");
  const request = chat.buildRequest({ model: "m", messages: [user], ...more }, model);
  return JSON.parse(JSON.stringify(request)) as ConverseRequest;
}

function thinkingOf(name: string, more: object, outputTokensMax: number | null = null) {
  const request = build(name, more, outputTokensMax);
  const { inferenceConfig, additionalModelRequestFields: fields = {} } = request;
  return { ...fields, maxTokens: inferenceConfig?.maxTokens };
}

const adaptive = { thinking: { type: "adaptive" }, maxTokens: undefined };
const summarized = { thinking: { type: "adaptive", display: "summarized" }, maxTokens: undefined };
const budget = { thinking: { type: "enabled", budget_tokens: 25_600 }, maxTokens: 32_000 };
const nothing = { maxTokens: undefined };

for (const [name, expected] of [
  ["anthropic.claude-v2:1", nothing],
  ["anthropic.claude-3-5-sonnet-20241022-v2:0", nothing],
  ["us.anthropic.claude-3-7-sonnet-20250219-v1:0", budget],
  ["us.anthropic.claude-opus-4-20250514-v1:0", budget],
  [sonnet45, budget],
  ["us.anthropic.claude-haiku-4-5-20251001-v1:0", budget],
  ["anthropic.claude-opus-4-6-v1", { ...adaptive, output_config: { effort: "high" } }],
  ["eu.anthropic.claude-sonnet-4-6", { ...adaptive, output_config: { effort: "high" } }],
  ["global.anthropic.claude-opus-4-7", { ...summarized, output_config: { effort: "high" } }],
  ["us.anthropic.claude-fable-5-1", { ...summarized, output_config: { effort: "high" } }],
  ["anthropic.claude-mythos-preview", { ...summarized, output_config: { effort: "high" } }],
  [
    "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-8",
    { ...summarized, output_config: { effort: "high" } },
  ],
  ["openai.gpt-oss-20b-1:0", { ...nothing, reasoning_effort: "high" }],
  ["us.openai.gpt-5.6", { ...nothing, reasoning: { effort: "high" } }],
  [
    "us.amazon.nova-2-lite-v1:0",
    { ...nothing, reasoningConfig: { type: "enabled", maxReasoningEffort: "high" } },
  ],
  ["us.amazon.nova-pro-v1:0", nothing],
  ["us.deepseek.r1-v1:0", nothing],
  ["arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3", nothing],
] as const) {
  test(`${name}: the reasoning effort is translated`, (t) => {
    t.deepEqual<object, object>(thinkingOf(name, { reasoning_effort: "high" }), expected);
  });
}

test("a thinking budget is a share of the output limit and always smaller", (t) => {
  const budgetOf = (effort: string, more: object, outputTokensMax: number | null = null) => {
    const { thinking } = thinkingOf(sonnet45, { reasoning_effort: effort, ...more }, outputTokensMax) as {
      thinking?: { budget_tokens: number };
    };
    return thinking?.budget_tokens;
  };
  t.is(budgetOf("low", { max_tokens: 10_000 }), 2_000);
  t.is(budgetOf("medium", { max_completion_tokens: 10_000, max_tokens: 1 }), 5_000);
  t.is(budgetOf("medium", {}, 8_000), 4_000);
  t.is(budgetOf("minimal", { max_tokens: 2_000 }), 1_024, "no less than Claude takes");
  t.is(budgetOf("max", { max_tokens: 64_000 }), 32_000, "no more than is good for one connection");
  t.is(budgetOf("high", { max_tokens: 1_024 }), undefined, "the client's limit is worth more");
  t.is(budgetOf("none", {}), undefined);
});

test("Anthropic's own parameter passes with the limit that its budget needs", (t) => {
  const enabled = { type: "enabled", budget_tokens: 4_000 };
  t.deepEqual<object, object>(thinkingOf(sonnet45, { thinking: enabled, reasoning_effort: "high" }), {
    thinking: enabled,
    maxTokens: 32_000,
  });
  const disabled = { type: "disabled" };
  t.deepEqual<object, object>(thinkingOf("anthropic.claude-opus-5", { thinking: disabled }), {
    thinking: disabled,
    maxTokens: undefined,
  });
});

test("an invalid effort is rejected", (t) => {
  t.throws(() => build(sonnet45, { reasoning_effort: "utmost" }), { code: "invalid_value" });
  t.throws(() => build(sonnet45, { reasoning_effort: 3 }), { code: "invalid_type" });
  t.notThrows(() => build(sonnet45, { reasoning_effort: null }));
});

test("sampling parameters reach Claude only where it accepts them", (t) => {
  t.deepEqual(build(sonnet45, { temperature: 1, top_p: 1 }).inferenceConfig, undefined);
  const { inferenceConfig } = build(sonnet45, { top_p: 0.97, reasoning_effort: "low", max_tokens: 9_000 });
  t.deepEqual(inferenceConfig, { maxTokens: 9_000, topP: 0.97 });
  for (const more of [{ top_p: 0.9 }, { top_k: 5 }, { temperature: 0 }]) {
    const [param] = Object.keys(more);
    t.like(
      t.throws(() => build(sonnet45, { ...more, reasoning_effort: "low" })),
      { param },
    );
    t.is(build("anthropic.claude-opus-4-8", more).inferenceConfig, undefined);
    t.notThrows(() => build(sonnet45, more));
  }
});

test("a call and its result keep their id, or both receive a valid one", (t) => {
  const idsIn = (name: string, id: string) => {
    const calls = [{ id, type: "function", function: { name: "f", arguments: "{}" } }];
    const messages = [
      user,
      { role: "assistant", tool_calls: calls },
      { role: "tool", tool_call_id: id, content: "x" },
    ];
    return [...JSON.stringify(build(name, { messages }).messages).matchAll(/"toolUseId":"([^"]*)"/g)].map(
      ([, found = ""]) => found,
    );
  };
  t.deepEqual(idsIn(sonnet45, "tooluse_hr5juciYZJwUHpRczsw13R"), [
    "tooluse_hr5juciYZJwUHpRczsw13R",
    "tooluse_hr5juciYZJwUHpRczsw13R",
  ]);
  for (const [name, id] of [
    ["moonshot.kimi-k2-thinking", "functions.f:0"],
    [sonnet45, "x".repeat(65)],
    ["mistral.mistral-large-3", "tooluse_hr5juciYZJwUHpRczsw13R"],
  ] as const) {
    const [ofCall = "", ofResult = ""] = idsIn(name, id);
    const [another = ""] = idsIn(name, `${id}1`);
    t.regex(ofCall, /^[a-z0-9]{9}$/);
    t.is(ofCall, ofResult);
    t.not(ofCall, another);
  }
});

test("document names are unique and valid", (t) => {
  const namesOf = (filenames: string[]) => {
    const content = filenames.map((filename) => ({
      type: "file",
      file: { filename, file_data: "data:application/pdf;base64,JVBERi0xLjQK" },
    }));
    const [turn] = build(sonnet45, { messages: [{ role: "user", content }] }).messages;
    return turn?.content.flatMap((block) => ("document" in block ? block.document.name : []));
  };
  t.deepEqual(namesOf(["a.pdf", "a 2.pdf", "a.txt", "A.pdf"]), ["a", "a 2", "a 3", "A 4"]);
  t.deepEqual(namesOf(["John's  report_#1 (new).pdf", "분기보고서.pdf", ".pdf", ""]), [
    "John s report 1 (new)",
    "document",
    "document 2",
    "document 3",
  ]);
  t.is(namesOf(["x".repeat(500)])?.[0]?.length, 190);
});

test("an assistant turn with only thoughts is dropped", (t) => {
  const thought = { type: "reasoning.text", format: "anthropic-claude-v1", text: "Hm.", signature: "s" };
  const { messages } = build(sonnet45, {
    messages: [user, { role: "assistant", content: " ", reasoning_details: [thought] }, user],
  });
  t.deepEqual(messages, [{ role: "user", content: [{ text: "Hi" }, { text: "Hi" }] }]);
});

test("tool choices that name no existing tool are rejected", (t) => {
  const tools = [{ type: "function", function: { name: "f" } }];
  const allow = (names: string[]) => ({
    type: "allowed_tools",
    allowed_tools: {
      mode: "required",
      tools: names.map((name) => ({ type: "function", function: { name } })),
    },
  });
  t.like(
    t.throws(() => build(sonnet45, { tools, tool_choice: allow([]) })),
    { param: "tool_choice" },
  );
  t.like(
    t.throws(() => build(sonnet45, { tools, tool_choice: allow(["g", "h"]) })),
    { param: "tool_choice" },
  );
  t.like(
    t.throws(() => build(sonnet45, { tools, tool_choice: "sometimes" })),
    { param: "tool_choice" },
  );
  t.deepEqual(build(sonnet45, { tools, tool_choice: allow(["f", "g"]) }).toolConfig?.toolChoice, { any: {} });
});

const embeddingsOf = (name: string, body: object) => {
  const model = { name, outputTokensMax: null };
  const form = api.apis(model).embeddings?.translation;
  if (!form) throw new Error("Bedrock has a form of its own for embeddings");
  return form.buildRequest({ model: "m", input: "Hi", ...body }, model);
};

for (const [name, body, error] of [
  ["amazon.titan-embed-text-v2:0", { input: ["a", "b"] }, { code: "invalid_value", param: "input" }],
  ["amazon.titan-embed-text-v2:0", { input: [] }, { code: "invalid_value", param: "input" }],
  ["amazon.titan-embed-text-v1", { dimensions: 256 }, { code: "unsupported_parameter", param: "dimensions" }],
  ["cohere.embed-english-v3", { dimensions: 256 }, { code: "unsupported_parameter", param: "dimensions" }],
  ["cohere.embed-v4:0", { input: [1, 2] }, { code: "unsupported_parameter", param: "input" }],
  ["cohere.embed-v4:0", { input: [[1, 2]] }, { code: "unsupported_parameter", param: "input" }],
] as const) {
  test(`${name}: the embeddings request is rejected: ${JSON.stringify(body)}`, (t) => {
    t.like(
      t.throws(() => embeddingsOf(name, body)),
      error,
    );
  });
}

const folder = path.resolve(import.meta.dirname, "../../fixtures/providers/bedrock");

const newReader = () => new ConverseStreamReader(findModelFamily("anthropic.claude-sonnet-4-5"));

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

for (const [name, code] of Object.entries({
  internalServerException: "upstream_error",
  modelStreamErrorException: "upstream_error",
  serviceUnavailableException: "upstream_error",
  throttlingException: "upstream_rejected",
  validationException: "upstream_rejected",
  exceptionOfTomorrowException: "upstream_error",
  unmodeledError: "upstream_error",
})) {
  test(`${name} reaches the client and leaves the stream unfinished`, (t) => {
    const reader = newReader();
    const failure = event(name, { message: "It went wrong.", originalStatusCode: 500 });
    t.throws(() => readAll([text, failure], reader), {
      instanceOf: GatewayError,
      code,
      message: "It went wrong.",
    });
    t.is(reader.state, "unfinished");
  });
}

test("an exception without a message is still an exception", (t) => {
  t.throws(() => readAll([event("throttlingException", {})]), { code: "upstream_rejected" });
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

const events = [
  { name: "messageStart", data: '{"role":"assistant"}' },
  { name: "contentBlockDelta", data: '{"delta":{"text":"Grüezi 🌍"}}' },
  { name: "empty", data: "" },
];
const bytes = Buffer.concat(events.map(({ name, data }) => frameAwsEvent(name, data)));

test("events are decoded completely, wherever the bytes are cut", (t) => {
  for (let size = 1; size <= bytes.length; size++) {
    const decoder = new AwsEventStreamDecoder(1_000);
    const found = [];
    for (let at = 0; at < bytes.length; at += size) {
      found.push(...decoder.push(bytes.subarray(at, at + size)));
    }
    t.deepEqual(found, events, `pieces of ${size} bytes`);
    t.false(decoder.isTooLong);
  }
});

test("an exception has its own name, and an error without a model another", (t) => {
  const decoder = new AwsEventStreamDecoder(1_000);
  const [exception] = decoder.push(frameAwsEvent("throttlingException", '{"message":"Slow down."}', true));
  t.deepEqual(exception, { name: "throttlingException", data: '{"message":"Slow down."}' });
  const [error] = decoder.push(
    frame({ ":message-type": "error", ":error-code": "Internal", ":error-message": "Oh no." }),
  );
  t.deepEqual(error, { name: "unmodeledError", data: '{"message":"Oh no."}' });
});

test("headers of every type are skipped", (t) => {
  const flag = Buffer.from("\u0004flag\u0000");
  const number = Buffer.from("\u0001n\u0004\u0000\u0000\u0000\u0007");
  const type = headerBytes(":event-type", "ping");
  const decoder = new AwsEventStreamDecoder(1_000);
  t.deepEqual(decoder.push(frameBytes(Buffer.concat([flag, type, number]))), [{ name: "ping", data: "" }]);
});

test("a single flipped bit is detected", (t) => {
  const message = frameAwsEvent("messageStop", '{"stopReason":"end_turn"}');
  // With a damaged length (the first four bytes), the decoder may wait or report `isTooLong` instead of throwing.
  for (let at = 4; at < message.length; at++) {
    const damaged = Buffer.from(message);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    t.throws(() => new AwsEventStreamDecoder(1_000).push(damaged), undefined, `byte ${at}`);
  }
});

test("an oversized event is rejected by its first four bytes and not buffered", (t) => {
  const length = frameAwsEvent("a", "b").length;
  t.is(new AwsEventStreamDecoder(length).push(frameAwsEvent("a", "b")).length, 1);

  const decoder = new AwsEventStreamDecoder(length - 1);
  t.deepEqual(decoder.push(frameAwsEvent("a", "b").subarray(0, 3)), []);
  t.false(decoder.isTooLong);
  t.deepEqual(decoder.push(frameAwsEvent("a", "b").subarray(3, 4)), []);
  t.true(decoder.isTooLong);
  t.deepEqual(decoder.push(Buffer.alloc(100_000)), []);
  t.true(decoder.isTooLong);
});

test("an invalid message throws", (t) => {
  for (const length of [0, 4, 15]) {
    const prelude = Buffer.alloc(16);
    prelude.writeUInt32BE(length);
    t.throws(() => new AwsEventStreamDecoder(1_000).push(prelude), undefined, `a length of ${length}`);
  }
  const page = new AwsEventStreamDecoder(1_000_000);
  page.push(Buffer.from("<html><body>502 Bad Gateway</body></html>"));
  t.true(page.isTooLong);
});

function frame(headers: Record<string, string>): Buffer {
  return frameBytes(Buffer.concat(Object.entries(headers).map(([name, value]) => headerBytes(name, value))));
}

function frameBytes(headers: Buffer): Buffer {
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(headers.length + 16, 0);
  prelude.writeUInt32BE(headers.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const message = Buffer.concat([prelude, headers, Buffer.alloc(4)]);
  message.writeUInt32BE(crc32(message.subarray(0, -4)), message.length - 4);
  return message;
}

function headerBytes(name: string, value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(value));
  return Buffer.concat([Buffer.of(name.length), Buffer.from(name), Buffer.of(7), length, Buffer.from(value)]);
}

import test from "ava";
import fc from "fast-check";
import { messages } from "../../../gateway/dialects/messages/messages.ts";
import { GatewayError } from "../../../gateway/errors.ts";
import type { ChunkChoice } from "../../../gateway/wire/chat-completion.ts";
import { piece as call } from "../chunks.ts";
import {
  envelope,
  readEvents,
  requestFrom,
  says,
  toChatMessages,
  viaJson,
  writeStream,
} from "./messages-dialect.ts";
import { putTogether } from "./put-together.ts";
import { buildVia, content, results, signature, tools, translationOf } from "./vendor-forms.ts";

test("the stream starts with the first upstream chunk", (t) => {
  const writer = messages.createStreamWriter(envelope, requestFrom({}));
  const [start, ...rest] = readEvents(writer.write(says({ role: "assistant" }), null));
  t.is(start?.type, "message_start");
  t.deepEqual(rest, []);
});

test("a stream without its end never looks complete", (t) => {
  const choices = [
    says({ role: "assistant" }),
    says({ content: "Hi" }),
    call(0, "{}", { id: "a", name: "f" }),
    says({}, "tool_calls"),
  ];
  const writer = messages.createStreamWriter(envelope, requestFrom({}));
  const events = readEvents(choices.map((choice) => writer.write(choice, null)).join(""));
  t.false(events.some(({ type }) => type === "message_delta" || type === "message_stop"));
});

test("an empty upstream stream becomes an empty message", (t) => {
  t.deepEqual(
    readEvents(writeStream([], null)).map(({ type }) => type),
    ["message_start", "message_delta", "message_stop"],
  );
});

test("a second choice is ignored", (t) => {
  const other = { ...says({ content: "no" }), index: 1 };
  t.deepEqual(putTogether(readEvents(writeStream([says({ content: "yes" }), other], null))).content, [
    { type: "text", text: "yes", citations: null },
  ]);
});

test("known counts are sent at the start, and all of them at the end", (t) => {
  const writer = messages.createStreamWriter(envelope, requestFrom({}));
  const early = {
    prompt_tokens: 10,
    completion_tokens: 1,
    total_tokens: 11,
    prompt_tokens_details: { cached_tokens: 4 },
  };
  const events = readEvents(
    writer.write(says({ content: "a" }), early) + writer.finish({ ...early, completion_tokens: 7 }),
  );
  const start = events[0]?.["message"] as { usage: object };
  t.like(start.usage, { input_tokens: 6, cache_read_input_tokens: 4, output_tokens: 1 });
  t.like(putTogether(events).usage, { input_tokens: 6, cache_read_input_tokens: 4, output_tokens: 7 });
});

test("a single call is streamed piece by piece", (t) => {
  const writer = messages.createStreamWriter(envelope, requestFrom({}));
  writer.write(call(0, "", { id: "a", name: "f" }), null);
  t.regex(writer.write(call(0, '{"a"'), null), /input_json_delta/);
  t.is(writer.write(call(0, ""), null), "");
});

test("a call without arguments has an empty object", (t) => {
  const events = readEvents(writeStream([call(0, "", { id: "a", name: "f" }), says({}, "tool_calls")], null));
  t.deepEqual(putTogether(events).content, [
    { type: "tool_use", id: "a", name: "f", input: {}, caller: { type: "direct" } },
  ]);
});

test("calls that share an index or have none stay separate", (t) => {
  const same = [call(0, '{"n":1}', { id: "a", name: "f" }), call(0, '{"n":2}', { id: "b", name: "f" })];
  const none = [
    { id: "a", function: { name: "f", arguments: '{"n":1}' } },
    { id: "b", function: { name: "f", arguments: '{"n":' } },
    { function: { arguments: "2}" } },
  ].map((each) => says({ tool_calls: [each] } as object));
  for (const choices of [same, none]) {
    const { content } = putTogether(readEvents(writeStream(choices, null)));
    t.deepEqual(content, [
      { type: "tool_use", id: "a", name: "f", input: { n: 1 }, caller: { type: "direct" } },
      { type: "tool_use", id: "b", name: "f", input: { n: 2 }, caller: { type: "direct" } },
    ]);
  }
});

test("a call without an id receives an unused one", (t) => {
  const choices = [call(0, "{}", { id: "", name: "f" }), call(1, "{}", { id: "", name: "f" })];
  const ids = putTogether(readEvents(writeStream(choices, null))).content.map(({ id }) => id);
  t.deepEqual(ids, ["toolu_01kahs6zxm8qv2c9d4r7tn5wbe_0", "toolu_01kahs6zxm8qv2c9d4r7tn5wbe_1"]);
});

test("stop after a call means tool_use, and tool_calls without a call does not", (t) => {
  const stopReason = (...choices: ChunkChoice[]) =>
    putTogether(readEvents(writeStream(choices, null))).stop_reason;
  t.is(stopReason(call(0, "{}", { id: "a", name: "f" }), says({}, "stop")), "tool_use");
  t.is(stopReason(says({ content: "a" }), says({}, "tool_calls")), "end_turn");
  t.is(stopReason(says({ content: "a" }), says({}, "length")), "max_tokens");
  t.is(stopReason(says({ content: "a" }), says({}, "content_filter")), "refusal");
});

const mixedCalls = fc
  .array(
    fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.array(fc.constantFrom("}", '"', "\\", "{"))), {
      maxKeys: 3,
    }),
    { minLength: 1, maxLength: 4 },
  )
  .chain((inputs) => {
    const pieces = inputs.flatMap((input, index) => {
      const text = JSON.stringify(input);
      return Array.from({ length: Math.ceil(text.length / 3) }, (_, at) => ({
        index,
        text: text.slice(at * 3, at * 3 + 3),
      }));
    });
    return fc.tuple(
      fc.constant(inputs),
      fc.shuffledSubarray(
        pieces.map(({ index }) => index),
        { minLength: pieces.length },
      ),
      fc.constant(pieces),
    );
  });

test("interleaved pieces of calls are reassembled", (t) => {
  fc.assert(
    fc.property(mixedCalls, ([inputs, order, pieces]) => {
      const begins = inputs.map((_, index) => call(index, "", { id: `c${index}`, name: "f" }));
      const rest = order.map((index) => {
        const at = pieces.findIndex((piece) => piece.index === index);
        const [piece] = pieces.slice(at, at + 1);
        pieces = pieces.filter((_, place) => place !== at);
        return call(index, piece?.text ?? "");
      });
      const { content } = putTogether(readEvents(writeStream([...begins, ...rest], null)));
      const found = content.map(({ input }) => JSON.stringify(input));
      if (found.join() !== inputs.map((input) => JSON.stringify(input)).join()) throw new Error(found.join());
    }),
    { numRuns: 300 },
  );
  t.pass();
});

test("interleaved calls have a size limit", (t) => {
  const writer = messages.createStreamWriter(envelope, requestFrom({}));
  writer.write(call(0, '{"a":', { id: "a", name: "f" }), null);
  writer.write(call(1, "{", { id: "b", name: "f" }), null);
  const error = t.throws(
    () => {
      for (let count = 0; count < 20_000; count++) writer.write(call(1, " "), null);
    },
    { instanceOf: GatewayError },
  );
  t.is(error?.code, "upstream_error");
});

test("a call without a name, or continued after its end, is an upstream error", (t) => {
  t.throws(() => writeStream([call(0, "{}", { id: "a", name: "" })], null), { instanceOf: GatewayError });
  const overlong = [call(0, "{}", { id: "a", name: "f" }), says({ content: "x" }), call(0, '{"b":1}')];
  t.throws(() => writeStream(overlong, null), { instanceOf: GatewayError });
  t.notThrows(() => writeStream([...overlong.slice(0, 2), call(0, " \n")], null));
});

test("thoughts sent both as text and as details are written once", (t) => {
  const detail = (text: string) => ({ type: "reasoning.text" as const, format: "unknown", index: 0, text });
  const choices = [
    says({ reasoning_content: "One", reasoning_details: [detail("One")] }),
    says({ reasoning_content: " two", reasoning_details: [detail(" two")] }),
    says({ content: "Hi" }, "stop"),
  ];
  const [thought, text] = putTogether(readEvents(writeStream(choices, null))).content;
  t.like(thought, { type: "thinking", thinking: "One two" });
  t.deepEqual(text, { type: "text", text: "Hi", citations: null });
});

test("disabled thinking keeps only the signatures that an upstream needs", (t) => {
  const body = { thinking: { type: "disabled" } };
  const encrypted = (format: string) => ({
    type: "reasoning.encrypted" as const,
    format,
    index: 0,
    data: "abc",
  });
  const choices = [
    says({ reasoning_content: "Hm.", reasoning_details: [encrypted("anthropic-claude-v1")] }),
    says({ content: "Hi", reasoning_details: [encrypted("google-gemini-v1")] }),
  ];
  const typesOf = (...all: ChunkChoice[]) =>
    putTogether(readEvents(writeStream(all, null, body))).content.map(({ type }) => type);
  t.deepEqual(typesOf(...choices, call(0, "{}", { id: "a", name: "f" })), [
    "text",
    "redacted_thinking",
    "tool_use",
  ]);
  // Claude Code shows only the last block, so a redacted_thinking block after the text would hide the text.
  t.deepEqual(typesOf(...choices), ["text"]);
});

test("a conversation survives the translation to chat completions and back", (t) => {
  const body = {
    tools,
    thinking: { type: "enabled", budget_tokens: 2048 },
    max_tokens: 4096,
    messages: [
      { role: "user", content: [{ type: "text", text: "Hi", cache_control: { type: "ephemeral" } }] },
      { role: "assistant", content },
      { role: "user", content: [...results, { type: "text", text: "Go on" }] },
    ],
  };
  const request = buildVia("anthropic", "claude-sonnet-4-5", body);
  t.deepEqual(request["messages"], body.messages);
  t.like(request["thinking"], { type: "enabled" });
});

test("Claude's thoughts survive Bedrock's form", (t) => {
  const request = buildVia("bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0", {
    tools,
    thinking: { type: "enabled", budget_tokens: 2048 },
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", content },
      { role: "user", content: results },
    ],
  });
  const [, choice] = request["messages"] as { content: Record<string, Record<string, unknown>>[] }[];
  t.deepEqual(choice?.content[0], { reasoningContent: { reasoningText: { text: "The tool.", signature } } });
});

test("an Anthropic response survives the translation to chat completions and back", (t) => {
  const answer = {
    content,
    stop_reason: "tool_use",
    usage: { input_tokens: 1, cache_read_input_tokens: 2, cache_creation_input_tokens: 3, output_tokens: 4 },
  };
  const chat = translationOf("anthropic", "claude-sonnet-4-5").readAnswer(answer);
  t.like(viaJson(messages.formatAnswer(chat, envelope, requestFrom({}))), answer);
});

test("an Anthropic stream survives the translation to chat completions and back", (t) => {
  const reader = translationOf("anthropic", "claude-sonnet-4-5").createStreamReader();
  const writer = messages.createStreamWriter(envelope, requestFrom({}));
  let text = "";
  for (const data of streamOf(content)) {
    for (const choice of reader.read({ name: "", data: JSON.stringify(data) }))
      text += writer.write(choice, reader.usage);
  }
  const message = putTogether(readEvents(text + writer.finish(reader.usage)));
  t.like(message, { content, stop_reason: "tool_use", usage: { input_tokens: 1, output_tokens: 4 } });
});

function* streamOf(blocks: Record<string, unknown>[]): Generator<object> {
  yield { type: "message_start", message: { usage: { input_tokens: 1, output_tokens: 1 } } };
  for (const [index, block] of blocks.entries()) {
    const { type, text, thinking, signature: sign, input } = block;
    const start = {
      ...block,
      ...(type === "text" && { text: "" }),
      ...(type === "thinking" && { thinking: "", signature: "" }),
      ...(type === "tool_use" && { input: {} }),
    };
    yield { type: "content_block_start", index, content_block: start };
    const deltas = [
      type === "text" && { type: "text_delta", text },
      type === "thinking" && { type: "thinking_delta", thinking },
      type === "thinking" && { type: "signature_delta", signature: sign },
      type === "tool_use" && { type: "input_json_delta", partial_json: JSON.stringify(input) },
    ];
    for (const delta of deltas) if (delta) yield { type: "content_block_delta", index, delta };
    yield { type: "content_block_stop", index };
  }
  yield { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 4 } };
  yield { type: "message_stop" };
}

test("tool names that are too long for others are restored", (t) => {
  const name = `mcp__a_server_with_a_long_name__${"tool".repeat(15)}`;
  const body = {
    tools: [
      { name, input_schema: { type: "object" } },
      { name: `${name}2`, input_schema: { type: "object" } },
    ],
    tool_choice: { type: "tool", name },
  };
  const chat = messages.toChatRequest(requestFrom(body)) as unknown as {
    tools: { function: { name: string } }[];
    tool_choice: { function: { name: string } };
  };
  const [short = "", other = ""] = chat.tools.map((tool) => tool.function.name);
  t.is(short.length, 64);
  t.not(short, other);
  t.is(chat.tool_choice.function.name, short);
  const called = says({ tool_calls: [{ index: 0, id: "a", function: { name: short, arguments: "{}" } }] });
  t.like(putTogether(readEvents(writeStream([called], null, body))).content[0], { name });
});

test("ids that Anthropic rejects are rewritten and restored", (t) => {
  for (const id of ["functions.read:0", "toolu_gateway_x", "é", "call_1", "a".repeat(64)]) {
    const called = says({ tool_calls: [{ index: 0, id, function: { name: "f", arguments: "{}" } }] });
    const [block] = putTogether(readEvents(writeStream([called], null))).content;
    t.regex(String(block?.["id"]), /^[a-zA-Z0-9_-]+$/);
    const [, turn, result] = toChatMessages(
      { role: "user", content: "Hi" },
      { role: "assistant", content: [block] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: block?.["id"], content: "1" }] },
    ) as Record<string, unknown>[];
    t.like(turn, { tool_calls: [{ id }] });
    t.is(result?.["tool_call_id"], id);
  }
});

test("truncated or deeply nested arguments are wrapped", (t) => {
  for (const args of ['{"a":', "[1]", "null", `{"a":${"[".repeat(500)}${"]".repeat(500)}}`]) {
    const message = {
      role: "assistant" as const,
      content: null,
      refusal: null,
      tool_calls: [{ id: "call_1", type: "function" as const, function: { name: "f", arguments: args } }],
    };
    const answer = {
      choices: [{ index: 0, message, logprobs: null, finish_reason: "length" as const }],
      usage: null,
    };
    t.like(messages.formatAnswer(answer, envelope, requestFrom({})), {
      content: [{ type: "tool_use", input: { INVALID_JSON: args } }],
      stop_reason: "max_tokens",
    });
  }
});

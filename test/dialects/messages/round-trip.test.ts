import test from "ava";
import { messages } from "../../../gateway/dialects/messages/messages.ts";
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

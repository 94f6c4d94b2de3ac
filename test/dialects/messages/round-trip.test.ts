import test from "ava";
import { messages } from "../../../gateway/dialects/messages/messages.ts";
import { envelope, readEvents, requestFrom, viaJson } from "./messages-dialect.ts";
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
  t.deepEqual(message.content, content);
  t.is(message.stop_reason, "tool_use");
  t.like(message.usage, { input_tokens: 1, output_tokens: 4 });
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

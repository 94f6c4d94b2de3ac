import test from "ava";
import { messages } from "../../../gateway/dialects/messages/messages.ts";
import { envelope, readEvents, requestFrom, says, toChatMessages, writeStream } from "./messages-dialect.ts";
import { putTogether } from "./put-together.ts";

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

import test from "ava";
import fc from "fast-check";
import { MessageStreamReader } from "../../../gateway/providers/anthropic/message-stream-reader.ts";
import { readMessage } from "../../../gateway/providers/anthropic/read-message.ts";
import { toAssistantBlocks } from "../../../gateway/providers/anthropic/to-anthropic-messages.ts";
import type { ChatMessage, ReasoningDetail } from "../../../gateway/wire/chat-completion.ts";
import { countJsonTexts } from "../../../gateway/wire/parse-shallow-object.ts";

const toBlocks = (message: ChatMessage, param: string) => toAssistantBlocks(message, param, countJsonTexts());

type Block = { type: string; [field: string]: unknown };

const word = fc.stringMatching(/^[a-z]{1,8}$/);
const thought: fc.Arbitrary<Block> = fc.oneof(
  fc.record({ type: fc.constant("thinking"), thinking: fc.oneof(word, fc.constant("")), signature: word }),
  fc.record({ type: fc.constant("redacted_thinking"), data: word }),
);
const thoughts = fc.array(thought, { maxLength: 3 });

/** Blocks in Claude's order: thoughts anywhere except at the end, at most one text, then calls. */
const content: fc.Arbitrary<Block[]> = fc
  .tuple(
    fc.option(
      word.map((text) => ({ type: "text", text })),
      { nil: undefined },
    ),
    fc.array(fc.record({ name: word, input: fc.dictionary(word, fc.integer(), { maxKeys: 2 }) }), {
      maxLength: 3,
    }),
    fc.array(thoughts, { minLength: 4, maxLength: 4 }),
  )
  .map(([text, calls, groups]) => {
    const uses = calls.map((call, index) => ({ type: "tool_use", id: `toolu_${index}`, ...call }));
    const said: Block[] = text ? [text, ...uses] : uses;
    return said.flatMap((block, index) => [...(groups[index] ?? []), block]);
  });

test("a returned response is restored with thoughts in their places", (t) => {
  fc.assert(
    fc.property(content, (blocks) => {
      const { choices } = readMessage({ content: blocks, stop_reason: "end_turn" });
      const message = choices[0]?.message;
      if (!message) throw new Error("no choice");
      t.deepEqual(viaJson(toBlocks({ ...message }, "messages[0]")), viaJson(blocks));
    }),
  );
  t.pass();
});

test("a returned streamed response is restored, however the client joins thoughts", (t) => {
  fc.assert(
    fc.property(content, (blocks) => {
      const message = assemble(blocks);
      t.deepEqual(viaJson(toBlocks(message, "messages[0]")), viaJson(blocks));
    }),
  );
  t.pass();
});

test("foreign, unsigned and malformed details are dropped", (t) => {
  const format = "anthropic-claude-v1";
  const details = [
    { type: "reasoning.text", format: "google-gemini-v1", index: 0, text: "a", signature: "b" },
    { type: "reasoning.text", format, index: 1, text: "unsigned" },
    { type: "reasoning.text", format, index: -1, text: "first", signature: "s" },
    { type: "reasoning.encrypted", format, index: 1e300, data: 7 },
    null,
    "text",
    [],
  ];
  const kept = [{ type: "thinking", thinking: "first", signature: "s" }];
  for (const [reasoning_details, expected] of [
    [details, kept],
    [{}, []],
    ["x", []],
    [null, []],
  ] as const) {
    const blocks = toBlocks({ role: "assistant", content: "Hi", reasoning_details }, "messages[0]");
    t.deepEqual(viaJson(blocks), [...expected, { type: "text", text: "Hi" }]);
  }
});

test("a turn never ends with a thought, and thoughts alone are dropped", (t) => {
  const reasoning_details = [
    { type: "reasoning.text", format: "anthropic-claude-v1", index: 7, text: "a", signature: "s" },
  ];
  const role = "assistant" as const;
  t.deepEqual(toBlocks({ role, content: "", reasoning_details }, ""), []);
  const types = toBlocks({ role, content: "Hi", reasoning_details }, "").map(({ type }) => type);
  t.deepEqual(types, ["thinking", "text"]);
});

/** Assembles a client's message from a stream's deltas. The client does not join the pieces of a thought. */
function assemble(blocks: Block[]) {
  const reader = new MessageStreamReader();
  const message = {
    role: "assistant" as const,
    content: "",
    reasoning_details: [] as ReasoningDetail[],
    tool_calls: [] as { id?: string; type?: string; function: { name?: string; arguments: string } }[],
  };
  for (const event of blocks.flatMap(toEvents)) {
    for (const { delta } of reader.read({ name: event.type, data: JSON.stringify(event) })) {
      message.content += delta.content ?? "";
      message.reasoning_details.push(...(delta.reasoning_details ?? []));
      for (const { index, ...piece } of delta.tool_calls ?? []) {
        const call = message.tool_calls[index];
        if (call) call.function.arguments += piece.function.arguments;
        else message.tool_calls[index] = piece;
      }
    }
  }
  return message;
}

function toEvents(block: Block, index: number): Block[] {
  const delta = (piece: object) => ({ type: "content_block_delta", index, delta: piece });
  const begin = (content_block: object) => ({ type: "content_block_start", index, content_block });
  const end = { type: "content_block_stop", index };
  const halves = (text: unknown) => [String(text).slice(0, 2), String(text).slice(2)];
  if (block.type === "text") {
    const pieces = halves(block["text"]).map((text) => delta({ type: "text_delta", text }));
    return [begin({ type: "text", text: "" }), ...pieces, end];
  }
  if (block.type === "tool_use") {
    const json = JSON.stringify(block["input"]);
    const pieces = json === "{}" ? [""] : halves(json);
    const deltas = pieces.map((partial_json) => delta({ type: "input_json_delta", partial_json }));
    return [begin({ ...block, input: {} }), ...deltas, end];
  }
  if (block.type === "redacted_thinking") return [begin(block), end];
  return [
    begin({ type: "thinking", thinking: "", signature: "" }),
    ...halves(block["thinking"]).map((thinking) => delta({ type: "thinking_delta", thinking })),
    delta({ type: "signature_delta", signature: block["signature"] }),
    end,
  ];
}

/** Drops undefined members, because `deepEqual` would compare them. */
function viaJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

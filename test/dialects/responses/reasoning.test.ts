import test from "ava";
import fc from "fast-check";
import { readResponsesRequest } from "../../../gateway/dialects/responses/read-responses-request.ts";
import { responses } from "../../../gateway/dialects/responses/responses.ts";
import {
  openReasoning,
  ReasoningCollector,
  sealReasoning,
  withoutSealedReasoning,
} from "../../../gateway/dialects/responses/sealed-content.ts";
import type { ChunkChoice, ReasoningDetail } from "../../../gateway/wire/chat-completion.ts";
import { countJsonTexts } from "../../../gateway/wire/parse-shallow-object.ts";
import { anyCharacter } from "../../helpers/any-character.ts";
import { bodyLimits } from "../../helpers/body-limits.ts";
import { readEvents, requestFrom, writeStream } from "./read-events.ts";

const text = fc.string({ unit: anyCharacter, maxLength: 20 });
const detail = fc.record(
  {
    type: fc.constantFrom<ReasoningDetail["type"][]>(
      "reasoning.text",
      "reasoning.encrypted",
      "reasoning.summary",
    ),
    format: text,
    id: text,
    index: fc.nat(),
    text,
    signature: text,
    data: text,
    summary: text,
  },
  { requiredKeys: ["type", "format"] },
);

const open = (sealed: string) => openReasoning(sealed, countJsonTexts());

test("sealed reasoning opens again", (t) => {
  fc.assert(
    fc.property(fc.array(detail), (details) => {
      const sendable = JSON.parse(Buffer.from(JSON.stringify(details).toWellFormed()).toString("utf8"));
      t.deepEqual(open(sealReasoning(sendable)), sendable);
    }),
  );
});

test("foreign or damaged reasoning is ignored", (t) => {
  const sealed = sealReasoning([{ type: "reasoning.text", format: "f", text: "a" }]);
  const prefix = sealed.slice(0, sealed.indexOf(":") + 1);
  for (const foreign of ["", "gAAAAABpH0pQ", sealed.slice(1), prefix, `${prefix}%%%`, sealed.slice(0, -9)]) {
    t.deepEqual(open(foreign), []);
  }
  const deep = "[".repeat(200_000) + "]".repeat(200_000);
  for (const json of ["{}", "null", "[1,null,[]]", '[{"type":"x","format":"f"}]', deep, `[{"a":${deep}}]`]) {
    t.deepEqual(open(prefix + Buffer.from(json).toString("base64")), []);
  }
});

test("only reasoning members survive the sealing", (t) => {
  const json =
    '[{"type":"reasoning.text","format":"f","index":1,"text":"a","signature":2,"evil":{"deep":[]}}]';
  const prefix = sealReasoning([]).split(":")[0];
  t.deepEqual(open(`${prefix}:${Buffer.from(json).toString("base64")}`), [
    { type: "reasoning.text", format: "f", index: 1, text: "a" },
  ]);
});

test("streamed pieces are joined thought by thought", (t) => {
  const collector = new ReasoningCollector();
  const piece = (index: number, more: object) =>
    ({ type: "reasoning.text", format: "f", index, ...more }) as ReasoningDetail;
  collector.add([piece(0, { text: "a" }), piece(0, { text: "b" })]);
  collector.add([piece(0, { signature: "s" }), piece(1, { text: "c" })]);
  collector.add([{ type: "reasoning.encrypted", format: "f", index: 2, data: "x" }]);
  collector.add([{ type: "reasoning.encrypted", format: "f", index: 2, data: "y" }]);
  t.deepEqual(collector.drain(), [
    piece(0, { text: "ab", signature: "s" }),
    piece(1, { text: "c" }),
    { type: "reasoning.encrypted", format: "f", index: 2, data: "x" },
    { type: "reasoning.encrypted", format: "f", index: 2, data: "y" },
  ]);
  t.deepEqual(collector.drain(), []);
});

const asked = { model: "a/b", include: ["reasoning.encrypted_content"] };
const claude = (index: number, more: object): ChunkChoice => ({
  index: 0,
  delta: { reasoning_details: [{ type: "reasoning.text", format: "anthropic-claude-v1", index, ...more }] },
  finish_reason: null,
});

function itemsOf(choices: ChunkChoice[], request: object): unknown[] {
  return readEvents(writeStream(requestFrom({ ...request, input: "x" }), choices)).flatMap(({ type, item }) =>
    type === "response.output_item.done" ? [item] : [],
  );
}

test("signed thoughts survive a client that keeps only the items", (t) => {
  const call: ChunkChoice = {
    index: 0,
    delta: {
      tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
    },
    finish_reason: null,
  };
  const items = itemsOf(
    [
      { index: 0, delta: { reasoning_content: "First." }, finish_reason: null },
      claude(0, { text: "First.", signature: "s0" }),
      { index: 0, delta: { content: "Now." }, finish_reason: null },
      { index: 0, delta: { reasoning_content: "Second." }, finish_reason: null },
      claude(2, { text: "Second." }),
      claude(2, { signature: "s2" }),
      call,
      claude(4, { signature: "late" }),
    ],
    asked,
  );
  const output = { type: "function_call_output", call_id: "c", output: "ok" };
  const { messages } = responses.toChatRequest(requestFrom({ ...asked, input: [...items, output] }));
  t.deepEqual(messages, [
    {
      role: "assistant",
      content: "Now.",
      reasoning_content: "First.\n\nSecond.",
      reasoning_details: [
        { type: "reasoning.text", format: "anthropic-claude-v1", index: 0, text: "First.", signature: "s0" },
        { type: "reasoning.text", format: "anthropic-claude-v1", index: 2, text: "Second.", signature: "s2" },
        { type: "reasoning.text", format: "anthropic-claude-v1", index: 4, signature: "late" },
      ],
      tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "c", content: "ok" },
  ]);
});

test("a client that does not ask for them receives thoughts without sealed content", (t) => {
  const choices = [claude(0, { text: "a", signature: "s" })];
  t.deepEqual(itemsOf(choices, { model: "a/b" }), []);
  t.is(itemsOf(choices, asked).length, 1);
});

test("of two adjacent responses only the last one's thoughts are restored", (t) => {
  const answer = (choice: string) => {
    const text: ChunkChoice = { index: 0, delta: { content: choice }, finish_reason: "stop" };
    return itemsOf([claude(0, { text: `about ${choice}`, signature: "s" }), text], asked);
  };
  const { messages } = responses.toChatRequest(
    requestFrom({ ...asked, input: [...answer("a"), ...answer("b")] }),
  );
  t.is(messages.length, 1);
  t.is(messages[0]?.content, "a\n\nb");
  t.like(messages[0]?.["reasoning_details"], [{ text: "about b" }]);
});

const read = (input: unknown) =>
  readResponsesRequest(Buffer.from(JSON.stringify({ model: "openai/gpt", input })), bodyLimits);

test("OpenAI receives no thoughts sealed here, and everything else unchanged", (t) => {
  const own = { type: "reasoning", summary: [], encrypted_content: "gAAAAABo" };
  const ours = {
    type: "reasoning",
    summary: [],
    encrypted_content: sealReasoning([
      { type: "reasoning.text", format: "anthropic-claude-v1", text: "Hm." },
    ]),
  };
  const asked = { role: "user", content: "Go on." };
  const request = withoutSealedReasoning(read([own, ours, asked]));
  t.deepEqual(request.body["input"], [own, asked]);
  t.is(request.modelRange, null, "the client's bytes are not what is sent");

  const untouched = read([own, asked]);
  t.is(withoutSealedReasoning(untouched), untouched);
});

test("a long native request without seals is not parsed whole", (t) => {
  const request = read([{ role: "user", content: "x".repeat(1_000) }]);
  const watched = Object.defineProperty(Object.create(request) as typeof request, "body", {
    get: () => t.fail("the body was read"),
  });
  t.is(withoutSealedReasoning(watched), watched);
});

import fc from "fast-check";
import type { Answer } from "../helpers/native-upstreams/native-upstream.ts";
import { plainAnswer } from "./step.ts";

/** A chat completion request without `model`, `stream` and `stream_options`. */
export type RandomRequest = { messages: object[]; tools?: object[]; [field: string]: unknown };

export function chatRequests(): fc.Arbitrary<RandomRequest> {
  return fc
    .record({
      system: fc.array(text(), { maxLength: 2 }),
      exchanges: fc.array(fc.tuple(userMessage(), assistantTurn()), { maxLength: 3 }),
      last: userMessage(),
      max_completion_tokens: fc.option(fc.integer({ min: 1, max: 4096 }), { nil: undefined }),
      stop: fc.option(fc.array(word(), { minLength: 1, maxLength: 4 }), { nil: undefined }),
      isForced: fc.boolean(),
    })
    .map(({ system, exchanges, last, isForced, ...parameters }) => ({
      ...JSON.parse(JSON.stringify(parameters)),
      messages: [
        ...system.map((content, index) => ({ role: index === 0 ? "system" : "developer", content })),
        ...exchanges.flatMap(([user, assistant], index) => [user, ...assistantMessages(assistant, index)]),
        last,
      ],
      tools,
      ...(isForced && { tool_choice: { type: "function", function: { name: "look_up" } } }),
    }));
}

export function answers(): fc.Arbitrary<Answer> {
  return fc
    .record({
      text: fc.array(text(), { maxLength: 6 }),
      calls: fc.array(fc.record({ name: fc.constantFrom("look_up", "write_down"), input: toolInput() }), {
        maxLength: 3,
      }),
      isCut: fc.boolean(),
      cached: fc.nat(1_000),
      fresh: fc.nat(100_000),
      output: fc.integer({ min: 1, max: 100_000 }),
    })
    .filter(({ text: pieces, calls }) => pieces.length + calls.length > 0)
    .map(({ text: pieces, calls, isCut, cached, fresh, output }) => ({
      ...plainAnswer,
      text: pieces,
      calls,
      finish: calls.length > 0 ? "tool_calls" : isCut ? "length" : "stop",
      usage: { input: cached + fresh, cached, cacheWritten: 0, output, thinking: 0 },
    }));
}

const tools = ["look_up", "write_down"].map((name) => ({
  type: "function",
  function: {
    name,
    description: `Can ${name}.`,
    parameters: { type: "object", properties: { subject: { type: "string" } } },
  },
}));

type AssistantTurn = { said: string; calls: { name: string; input: object; result: string }[] };

function assistantTurn(): fc.Arbitrary<AssistantTurn> {
  const call = fc.record({
    name: fc.constantFrom("look_up", "write_down"),
    input: toolInput(),
    result: text(),
  });
  return fc
    .record({ said: fc.oneof(text(), fc.constant("")), calls: fc.array(call, { maxLength: 3 }) })
    .filter(({ said, calls }) => said !== "" || calls.length > 0);
}

function assistantMessages({ said, calls }: AssistantTurn, turn: number): object[] {
  const id = (index: number) => `call_${turn}_${index}`;
  const toolCalls = calls.map(({ name, input }, index) => ({
    id: id(index),
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  const content = said === "" ? null : said;
  return [
    { role: "assistant", content, ...(toolCalls.length > 0 && { tool_calls: toolCalls }) },
    ...calls.map(({ result }, index) => ({ role: "tool", tool_call_id: id(index), content: result })),
  ];
}

function userMessage(): fc.Arbitrary<object> {
  const image = fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => ({
    type: "image_url",
    image_url: { url: `data:image/png;base64,${Buffer.from(bytes).toString("base64")}` },
  }));
  const part = fc.oneof(
    { weight: 3, arbitrary: text().map((each) => ({ type: "text", text: each })) },
    image,
  );
  const content = fc.oneof(text(), fc.array(part, { minLength: 1, maxLength: 4 }));
  return content.map((each) => ({ role: "user", content: each }));
}

/** Excludes blank texts, which some vendors reject. */
function text(): fc.Arbitrary<string> {
  return fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }).filter((each) => each.trim() !== "");
}

function word(): fc.Arbitrary<string> {
  return fc.stringMatching(/^[A-Za-z]{1,12}$/);
}

function toolInput(): fc.Arbitrary<object> {
  const value = fc.oneof(
    text(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(fc.integer(), { maxLength: 3 }),
  );
  return fc.dictionary(word(), value, { maxKeys: 3, noNullPrototype: true });
}

import test from "ava";
import fc from "fast-check";
import { FreeformInput } from "../../../gateway/dialects/responses/format-items.ts";
import { readResponsesRequest } from "../../../gateway/dialects/responses/read-responses-request.ts";
import { responses } from "../../../gateway/dialects/responses/responses.ts";
import {
  openReasoning,
  ReasoningCollector,
  sealReasoning,
  withoutSealedReasoning,
} from "../../../gateway/dialects/responses/sealed-content.ts";
import type { ChunkChoice, ReasoningDetail } from "../../../gateway/wire/chat-completion.ts";
import { isObject } from "../../../gateway/wire/json.ts";
import { countJsonTexts } from "../../../gateway/wire/parse-shallow-object.ts";
import { anyCharacter } from "../../helpers/any-character.ts";
import { bodyLimits } from "../../helpers/body-limits.ts";
import { cpuMsSince } from "../../helpers/cpu-ms-since.ts";
import { chunk, piece } from "../chunks.ts";
import { envelopeFor, readEvents, requestFrom, writeStream } from "./read-events.ts";

type Tool = { function: { name: string; description?: string } };

function chatToolsOf(request: object): Tool[] {
  return responses.toChatRequest(requestFrom({ model: "x/y", input: "x", ...request }))["tools"] as Tool[];
}

/** Translates a model's tool call to an item of the response. */
function callOf(request: object, name: string, args = "{}"): Record<string, unknown> | undefined {
  const read = requestFrom({ model: "x/y", input: "x", ...request });
  const tool_calls = [{ id: "call_1", type: "function" as const, function: { name, arguments: args } }];
  const message = { role: "assistant" as const, content: null, refusal: null, tool_calls };
  const answer = responses.formatAnswer(
    { choices: [{ index: 0, message, logprobs: null, finish_reason: "tool_calls" }], usage: null },
    envelopeFor(read),
    read,
  );
  const output: unknown[] = isObject(answer) && Array.isArray(answer["output"]) ? answer["output"] : [];
  return output.find(isObject);
}

const long = "a_function_whose_name_is_as_long_as_the_responses_api_allows_but_chat_completions_do_not";

test("every tool receives a unique valid name and is found by it", (t) => {
  const tools = [
    { type: "function", name: "web__run" },
    { type: "namespace", name: "web", description: "", tools: [{ type: "function", name: "run" }] },
    { type: "custom", name: "web__run" },
    {
      type: "namespace",
      name: "mcp__docs.example.com__",
      description: "",
      tools: [
        { type: "function", name: long },
        { type: "function", name: `${long}_2` },
      ],
    },
    { type: "function", name: long },
    { type: "function", name: "web__run" },
  ];
  const names = chatToolsOf({ tools }).map((tool) => tool.function.name);
  t.is(names.length, 6);
  t.is(new Set(names).size, 6);
  for (const name of names) t.regex(name, /^[\w-]{1,64}$/);
  const found = names.map((name) => callOf({ tools }, name));
  t.deepEqual(
    found.map((call) => [call?.["type"], call?.["namespace"], call?.["name"]]),
    [
      ["function_call", undefined, "web__run"],
      ["function_call", "web", "run"],
      ["custom_tool_call", undefined, "web__run"],
      ["function_call", "mcp__docs.example.com__", long],
      ["function_call", "mcp__docs.example.com__", `${long}_2`],
      ["function_call", undefined, long],
    ],
  );
});

test("a tool keeps its name in later turns, even with other tools added or removed", (t) => {
  const namespace = {
    type: "namespace",
    name: "mcp__docs__",
    description: "",
    tools: [{ type: "function", name: long }],
  };
  const [first] = chatToolsOf({ tools: [namespace] });
  const call = { type: "function_call", call_id: "c", namespace: "mcp__docs__", name: long, arguments: "{}" };
  for (const tools of [[namespace, { type: "function", name: "more" }], []]) {
    const { messages } = responses.toChatRequest(requestFrom({ model: "x/y", input: [call], tools }));
    t.like(messages[0], { tool_calls: [{ function: { name: first?.function.name } }] });
  }
});

test("a namespace is described once", (t) => {
  const tools = [
    {
      type: "namespace",
      name: "n",
      description: "About n.",
      tools: [
        { type: "function", name: "a", description: "A." },
        { type: "custom", name: "b", description: "B." },
      ],
    },
  ];
  t.deepEqual(
    chatToolsOf({ tools }).map((tool) => tool.function.description),
    ["About n.\n\nA.", "B."],
  );
});

test("a request without remaining tools has no tool settings", (t) => {
  const settings = { tool_choice: "auto", parallel_tool_calls: true };
  for (const tools of [undefined, null, [], [{ type: "web_search" }, { type: "something_new", name: "x" }]]) {
    const chat = responses.toChatRequest(requestFrom({ model: "x/y", input: "x", tools, ...settings }));
    t.false("tools" in chat || "tool_choice" in chat || "parallel_tool_calls" in chat);
  }
});

test("arguments in a model's own form are understood as far as possible", (t) => {
  const tools = [
    { type: "custom", name: "patch" },
    { type: "local_shell" },
    { type: "shell" },
    { type: "apply_patch" },
  ];
  const inputs = ['{"input":"a"}', '"a"', "a", '{"input":1}', '{"text":"a"}', "", '{ "x": 1, "input": "a" }'];
  t.deepEqual(
    inputs.map((args) => callOf({ tools }, "patch", args)?.["input"]),
    ["a", "a", "a", '{"input":1}', '{"text":"a"}', "", "a"],
  );
  t.like(callOf({ tools }, "local_shell", '{"command":"ls"}'), { action: { command: ["ls"] } });
  t.like(callOf({ tools }, "local_shell", '{"command":['), { action: { command: [] } });
  t.like(callOf({ tools }, "shell", '{"commands":[1,"ls"],"timeout_ms":"5"}'), {
    action: { commands: ["1", "ls"], timeout_ms: null },
  });
  t.like(callOf({ tools }, "apply_patch", '{"type":"rename_file"}'), {
    operation: { type: "update_file", path: "", diff: "" },
  });
});

function readIn(pieces: string[]): { choice: string; text: string } {
  const input = new FreeformInput();
  const choice = pieces.map((piece) => input.push(piece)).join("");
  const { text, remaining } = input.finish();
  return { choice: choice + remaining, text };
}

function cut(text: string, places: number[]): string[] {
  const ends = [...new Set(places.map((place) => place % (text.length + 1)))].toSorted((a, b) => a - b);
  return [...ends, text.length].map((end, index, all) => text.slice(all[index - 1] ?? 0, end));
}

const written = fc.string({ unit: anyCharacter, maxLength: 60 });
const spaces = fc.constantFrom("", " ", "\n  ", "\t");

test("any text is read from any JSON spelling, however it is cut", (t) => {
  const spelled = fc.tuple(written, spaces, spaces, fc.boolean()).map(([text, before, after, isAscii]) => {
    const json = JSON.stringify(text);
    const spelling = isAscii
      ? json.replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      : json;
    return { text, args: `${before}{${after}"input"${before}:${after}${spelling}${after}}${before}` };
  });
  fc.assert(
    fc.property(spelled, fc.array(fc.nat(), { maxLength: 8 }), ({ text, args }, places) => {
      t.deepEqual(readIn(cut(args, places)), { choice: text, text });
      t.deepEqual(readIn([...args]), { choice: text, text });
    }),
  );
  t.pass();
});

test("half a character is never emitted", (t) => {
  const input = new FreeformInput();
  const pieces = ['{"input":"a\\ud83c', "\\udf0d", 'b"}'].map((piece) => input.push(piece));
  t.deepEqual(pieces, ["a", "🌍", "b"]);
});

test("a truncated response emits the text received so far", (t) => {
  t.deepEqual(readIn(['{"input":"*** Begin', " Patch\\n*** Add", "\\"]), {
    choice: "*** Begin Patch\n*** Add",
    text: "*** Begin Patch\n*** Add",
  });
});

test("invalid JSON is kept as text", (t) => {
  t.is(readIn(['{"input":"line\nbreak \\d+ \\x41 C:\\users"}']).text, "line\nbreak d+ x41 C:\\users");
  t.is(readIn(["*** Begin Patch\n*** End Patch\n"]).text, "*** Begin Patch\n*** End Patch\n");
  t.is(readIn([`${" ".repeat(80)}{"input":"a"}`]).text, "a");
  t.is(readIn([]).text, "");
});

test("the work is proportional to the piece", (t) => {
  const input = new FreeformInput();
  input.push('{"input":"');
  const piece = "a line of a patch\\n".repeat(4);
  const before = process.cpuUsage();
  for (let index = 0; index < 50_000; index++) input.push(piece);
  const seconds = cpuMsSince(before) / 1000;
  t.is(input.finish().text.length, 50_000 * 4 * "a line of a patch\n".length);
  t.true(seconds < 5, `${seconds} s for 3.6 MB`);
});

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

test("pieces of different details stay apart, even with the same index", (t) => {
  const collector = new ReasoningCollector();
  const piece: ReasoningDetail = { type: "reasoning.text", format: "f", index: 0, id: "rs_1", text: "a" };
  for (const difference of [
    { id: "rs_2" },
    { id: null },
    { format: "g" },
    { type: "reasoning.summary" },
    { index: 1 },
  ] satisfies Partial<ReasoningDetail>[]) {
    const other = { ...piece, ...difference };
    collector.add([piece, other, other, piece]);
    t.deepEqual(collector.drain(), [piece, { ...other, text: "aa" }, piece], JSON.stringify(difference));
  }
});

const asked = { model: "a/b", include: ["reasoning.encrypted_content"] };
const claude = (index: number, more: object) =>
  chunk({ reasoning_details: [{ type: "reasoning.text", format: "anthropic-claude-v1", index, ...more }] });

function itemsOf(choices: ChunkChoice[], request: object): unknown[] {
  return readEvents(writeStream(requestFrom({ ...request, input: "x" }), choices)).flatMap(({ type, item }) =>
    type === "response.output_item.done" ? [item] : [],
  );
}

test("signed thoughts survive a client that keeps only the items", (t) => {
  const items = itemsOf(
    [
      chunk({ reasoning_content: "First." }),
      claude(0, { text: "First.", signature: "s0" }),
      chunk({ content: "Now." }),
      chunk({ reasoning_content: "Second." }),
      claude(2, { text: "Second." }),
      claude(2, { signature: "s2" }),
      piece(0, "{}", { id: "c", name: "f" }),
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
    const thought = claude(0, { text: `about ${choice}`, signature: "s" });
    return itemsOf([thought, chunk({ content: choice }, "stop")], asked);
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

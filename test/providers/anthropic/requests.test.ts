import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "ava";
import fc from "fast-check";
import { GatewayError } from "../../../gateway/errors.ts";
import { anthropic } from "../../../gateway/providers/anthropic/anthropic.ts";
import {
  MessageStreamReader,
  readMessage,
} from "../../../gateway/providers/anthropic/message-stream-reader.ts";
import { toAssistantBlocks } from "../../../gateway/providers/anthropic/to-anthropic-messages.ts";
import type { Endpoint } from "../../../gateway/providers/provider.ts";
import type { ChatMessage, ReasoningDetail } from "../../../gateway/wire/chat-completion.ts";
import { countJsonTexts } from "../../../gateway/wire/parse-shallow-object.ts";

const secret = "sk-ant-api03-test";
const connect = (baseUrl = "https://api.anthropic.com/v1", key: string | null = secret) =>
  anthropic.connect({ baseUrl, secret: key, preset: null });

function chatEndpoints(name: string, api = connect()): Endpoint[] {
  const chat = api.apis({ name, outputTokensMax: null })["chat/completions"];
  return chat.quirks === null ? [chat.endpoint, chat.streamEndpoint] : [];
}

function headerOf({ headers }: Endpoint, name: string): string | undefined {
  const at = headers.indexOf(name);
  return at === -1 ? undefined : headers[at + 1];
}

test("responses and streams come from one address, with the key in a header", (t) => {
  for (const endpoint of chatEndpoints("claude-haiku-4-5")) {
    t.is(endpoint.origin + endpoint.path, "https://api.anthropic.com/v1/messages");
    t.is(headerOf(endpoint, "x-api-key"), secret);
    t.is(headerOf(endpoint, "anthropic-version"), "2023-06-01");
    t.is(headerOf(endpoint, "content-type"), "application/json");
    t.is(headerOf(endpoint, "accept-encoding"), "identity");
    t.is(endpoint.secret, secret);
  }
  t.is(chatEndpoints("claude-haiku-4-5").length, 2);
});

test("only models that bind thoughts to a conversation receive the beta header", (t) => {
  const betas = (name: string) => chatEndpoints(name).map((endpoint) => headerOf(endpoint, "anthropic-beta"));
  for (const name of ["claude-haiku-4-5", "claude-opus-5", "claude-fable-5", "MiniMax-M2"]) {
    t.deepEqual(betas(name), [undefined, undefined], name);
  }
  for (const name of ["claude-fable-5-1", "claude-opus-5-5", "claude-haiku-5-5"]) {
    t.deepEqual(betas(name), Array(2).fill("thinking-binding-controls-2026-08-01"), name);
  }
});

test("a base URL keeps its own path and query and needs no key", (t) => {
  const api = connect("https://proxy.example/anthropic/v1/?team=a", null);
  t.is(chatEndpoints("m", api)[0]?.path, "/anthropic/v1/messages?team=a");
  t.is(api.modelsEndpoint.path, "/anthropic/v1/models?team=a&limit=1000");
  t.is(headerOf(api.modelsEndpoint, "x-api-key"), undefined);
  t.is(api.apis({ name: "m", outputTokensMax: null }).embeddings, undefined);
});

test("the models endpoint lists model names", (t) => {
  const { readModelNames } = connect();
  const data = [
    {
      type: "model",
      id: "claude-opus-5-5",
      display_name: "Claude Opus 5.5",
      created_at: "2026-09-22T00:00:00Z",
    },
    { type: "model" },
    null,
  ];
  t.deepEqual(readModelNames({ data, has_more: false }), ["claude-opus-5-5"]);
  for (const list of [null, [], "models", {}, { data: {} }]) t.is(readModelNames(list), null);
});

test("an account without credit is distinguished from an invalid request", (t) => {
  const { effectiveStatus } = connect();
  const error = (message: unknown) => ({ type: "error", error: { type: "invalid_request_error", message } });
  t.is(
    effectiveStatus?.(
      400,
      error("Your credit balance is too low to access the Anthropic API. Please go to …"),
    ),
    402,
  );
  t.is(
    effectiveStatus?.(
      400,
      error("You have reached your specified API usage limits. You will regain access on …"),
    ),
    402,
  );
  t.is(effectiveStatus?.(400, error("max_tokens: Field required")), 400);
  t.is(effectiveStatus?.(529, error("Your credit balance is too low")), 529);
  for (const body of [null, "", [], {}, error(null), { error: "text" }])
    t.is(effectiveStatus?.(400, body), 400);
});

const folder = path.resolve(import.meta.dirname, "../../fixtures/providers/anthropic");

type Event = { type: string; [field: string]: unknown };

function readAll(events: Event[], reader = new MessageStreamReader()) {
  const choices = events.flatMap((event) => reader.read({ name: event.type, data: JSON.stringify(event) }));
  return { choices, reader };
}

function recordedEvents(file: string): Event[] {
  return readFileSync(path.join(folder, file), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice("data: ".length)) as Event);
}

const start: Event = {
  type: "message_start",
  message: { usage: { input_tokens: 25, cache_read_input_tokens: 100, output_tokens: 1 } },
};
const finish: Event = {
  type: "message_delta",
  delta: { stop_reason: "end_turn" },
  usage: { output_tokens: 15 },
};
const stop: Event = { type: "message_stop" };
const block = (index: number, content_block: object): Event => ({
  type: "content_block_start",
  index,
  content_block,
});
const delta = (index: number, piece: object): Event => ({ type: "content_block_delta", index, delta: piece });

for (const file of globSync("*.chunks.txt", { cwd: folder }).toSorted()) {
  test(`${file}: the stream ends exactly at its last event`, (t) => {
    const events = recordedEvents(file);
    const reasonAt = events.findIndex(({ type }) => type === "message_delta");
    for (let length = 0; length <= events.length; length++) {
      const { reader } = readAll(events.slice(0, length));
      const expected = length === events.length ? "ended" : length > reasonAt ? "finished" : "unfinished";
      t.is(reader.state, expected, `after ${length} of ${events.length} events`);
    }
  });
}

test("an error mid-stream reaches the client and leaves the stream unfinished", (t) => {
  const reader = new MessageStreamReader();
  const error = { type: "overloaded_error", message: "Overloaded" };
  t.throws(() => readAll([start, { type: "error", error }], reader), {
    instanceOf: GatewayError,
    code: "upstream_error",
    message: "Overloaded",
  });
  t.is(reader.state, "unfinished");
  t.throws(() => readAll([{ type: "error" }]), { instanceOf: GatewayError, code: "upstream_error" });
});

test("a stream without a stop reason has not ended", (t) => {
  const reader = new MessageStreamReader();
  t.throws(() => readAll([start, stop], reader));
  t.throws(() => readAll([{ type: "message_delta", delta: { stop_reason: null } }, stop], reader));
  t.is(reader.state, "unfinished");
});

test("unknown events, blocks, deltas and pings are ignored", (t) => {
  const { choices, reader } = readAll([
    start,
    { type: "vendor_event", data: 1 },
    block(0, { type: "compaction", content: "…", signature: "abc" }),
    block(1, { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} }),
    delta(1, { type: "input_json_delta", partial_json: '{"query":' }),
    delta(1, { type: "citations_delta", citation: {} }),
    { type: "content_block_stop", index: 1 },
    { type: "content_block_stop" },
    delta(2, { type: "text_delta", text: "Hi" }),
    finish,
    stop,
  ]);
  const reasons = choices.map((choice) => choice.finish_reason);
  t.deepEqual(choices[0], { index: 0, delta: { content: "Hi" }, finish_reason: null });
  t.deepEqual(reasons, [null, "stop"]);
  t.is(reader.state, "ended");
  t.deepEqual(new MessageStreamReader().read({ name: "ping", data: "" }), []);
});

test("the content of a block's start is kept, including arguments", (t) => {
  const { choices } = readAll([
    block(0, { type: "text", text: "Hi" }),
    block(1, { type: "tool_use", id: "toolu_1", name: "add", input: { a: 1 } }),
    { type: "content_block_stop", index: 1 },
  ]);
  t.deepEqual(
    choices.map((choice) => choice.delta),
    [
      { content: "Hi" },
      {
        tool_calls: [{ index: 0, id: "toolu_1", type: "function", function: { name: "add", arguments: "" } }],
      },
      { tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] },
    ],
  );
});

test("the latest counts of any event apply", (t) => {
  t.is(readAll([]).reader.usage, null);
  t.like(readAll([start]).reader.usage, { prompt_tokens: 125, completion_tokens: 1, total_tokens: 126 });
  t.like(readAll([start, finish]).reader.usage, { prompt_tokens: 125, completion_tokens: 15 });
  const late = { ...finish, usage: { input_tokens: 30, cache_read_input_tokens: null, output_tokens: 15 } };
  t.like(readAll([start, late, { type: "message_delta" }]).reader.usage, {
    prompt_tokens: 130,
    completion_tokens: 15,
    prompt_tokens_details: { cached_tokens: 100 },
  });
});

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

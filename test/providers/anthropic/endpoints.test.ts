import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "ava";
import { GatewayError } from "../../../gateway/errors.ts";
import { anthropic } from "../../../gateway/providers/anthropic/anthropic.ts";
import { MessageStreamReader } from "../../../gateway/providers/anthropic/message-stream-reader.ts";
import type { Endpoint } from "../../../gateway/providers/provider.ts";

const secret = "sk-ant-api03-test";
const connect = (baseUrl = "https://api.anthropic.com/v1", key: string | null = secret) =>
  anthropic.connect({ baseUrl, secret: key, preset: null });

function chatEndpoints(name: string, api = connect()): Endpoint[] {
  const chat = api.chat({ name, outputTokensMax: null });
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
  t.is(api.embeddings({ name: "m", outputTokensMax: null }), null);
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

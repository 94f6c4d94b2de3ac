import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "ava";
import { GatewayError } from "../../../gateway/errors.ts";
import { buildGenerateRequest } from "../../../gateway/providers/gemini/build-generate-request.ts";
import { gemini } from "../../../gateway/providers/gemini/gemini.ts";
import {
  GenerateStreamReader,
  readGenerateAnswer,
} from "../../../gateway/providers/gemini/generate-stream-reader.ts";
import type { AssistantMessage, ChatMessage } from "../../../gateway/wire/chat-completion.ts";

const secret = "AIzaSyTestKey";
const baseUrl = "https://generativelanguage.googleapis.com/v1beta";
const connect = (url = baseUrl, key: string | null = secret) =>
  gemini.connect({ baseUrl: url, secret: key, preset: null });

function chatOf(name: string, url = baseUrl) {
  const chat = connect(url).apis({ name, outputTokensMax: null })["chat/completions"];
  if (chat.quirks !== null) throw new Error("Gemini speaks a form of its own");
  return chat;
}

test("a model has an endpoint for answers, one for streams and one for embeddings", (t) => {
  const { endpoint, streamEndpoint } = chatOf("gemini-2.5-flash");
  t.is(endpoint.origin, "https://generativelanguage.googleapis.com");
  t.is(endpoint.path, "/v1beta/models/gemini-2.5-flash:generateContent");
  t.is(streamEndpoint.path, "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
  const embeddings = connect().apis({ name: "gemini-embedding-001", outputTokensMax: null }).embeddings;
  t.is(embeddings?.endpoint.path, "/v1beta/models/gemini-embedding-001:batchEmbedContents");
});

test("the key is sent in a header, never in the URL", (t) => {
  const { modelsEndpoint } = connect();
  for (const endpoint of [modelsEndpoint, chatOf("a").endpoint, chatOf("a").streamEndpoint]) {
    t.deepEqual(endpoint.headers.slice(0, 2), ["x-goog-api-key", secret]);
    t.false(endpoint.path.includes(secret));
    t.is(endpoint.secret, secret);
  }
  t.false(connect(baseUrl, null).modelsEndpoint.headers.includes("x-goog-api-key"));
});

test("a base URL keeps its own path and query", (t) => {
  const url = "https://proxy.example:8443/google/v1beta/?team=a";
  t.is(chatOf("m", url).endpoint.path, "/google/v1beta/models/m:generateContent?team=a");
  t.is(chatOf("m", url).streamEndpoint.path, "/google/v1beta/models/m:streamGenerateContent?team=a&alt=sse");
});

for (const [name, path] of [
  ["models/gemini-2.5-pro", "/v1beta/models/gemini-2.5-pro:generateContent"],
  ["../../v1/files?x=", "/v1beta/models/..%2F..%2Fv1%2Ffiles%3Fx%3D:generateContent"],
  ["a b#ü%\ud800", "/v1beta/models/a%20b%23%C3%BC%25%EF%BF%BD:generateContent"],
] as const) {
  test(`the model name ${JSON.stringify(name)} cannot change the path`, (t) => {
    t.is(chatOf(name).endpoint.path, path);
  });
}

test("the model list is one page of chat and embedding models", (t) => {
  const { modelsEndpoint, readModelNames } = connect();
  t.is(modelsEndpoint.path, "/v1beta/models?pageSize=1000");
  const names = readModelNames({
    models: [
      { name: "models/gemini-2.5-pro", supportedGenerationMethods: ["generateContent", "countTokens"] },
      { name: "models/gemini-embedding-001", supportedGenerationMethods: ["embedContent"] },
      { name: "models/imagen-4.0-generate-001", supportedGenerationMethods: ["predict"] },
      { name: "models/of-tomorrow" },
      { displayName: "without a name" },
      null,
    ],
  });
  t.deepEqual(names, ["gemini-2.5-pro", "gemini-embedding-001", "of-tomorrow"]);
  for (const list of [null, [], {}, { models: {} }, "models"]) t.is(readModelNames(list), null);
});

test("a key unknown to Google becomes 401, and other errors keep their status", (t) => {
  const { effectiveStatus } = connect();
  const error = (reason: string) => ({
    error: {
      code: 400,
      message: "API key not valid. Please pass a valid API key.",
      status: "INVALID_ARGUMENT",
      details: [
        { "@type": "type.googleapis.com/google.rpc.LocalizedMessage", locale: "en-US" },
        { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "googleapis.com" },
      ],
    },
  });
  t.is(effectiveStatus?.(400, error("API_KEY_INVALID")), 401);
  t.is(effectiveStatus?.(400, [error("API_KEY_INVALID")]), 401);
  t.is(effectiveStatus?.(400, error("OTHER")), 400);
  t.is(effectiveStatus?.(503, error("API_KEY_INVALID")), 503);
  for (const body of [null, [], {}, { error: "x" }, { error: { details: [null] } }]) {
    t.is(effectiveStatus?.(400, body), 400);
  }
});

const folder = path.resolve(import.meta.dirname, "../../fixtures/providers/gemini");

const event = (value: unknown) => ({ name: "", data: JSON.stringify(value) });
const piece = (candidate: object) => event({ candidates: [{ index: 0, ...candidate }] });
const text = (words: string) => ({ content: { role: "model", parts: [{ text: words }] } });

for (const file of globSync("*.chunks.txt", { cwd: folder }).toSorted()) {
  test(`${file} is unfinished until its last event`, (t) => {
    const events = readFileSync(path.join(folder, file), "utf8")
      .split(/\r?\n\r?\n/)
      .filter((line) => line !== "");
    const reader = new GenerateStreamReader();
    for (const line of events) {
      t.is(reader.state, "unfinished");
      reader.read({ name: "", data: line.replace(/^data: /, "") });
    }
    t.is(reader.state, "finished");
  });
}

test("a stream without a regular end is unfinished", (t) => {
  for (const events of [
    [],
    [event({})],
    [event({ candidates: [] })],
    [event({ usageMetadata: { promptTokenCount: 3 } })],
    [event({ promptFeedback: {} })],
    [event({ promptFeedback: { blockReason: "BLOCK_REASON_UNSPECIFIED" } })],
    [piece(text("a"))],
    [piece({ finishReason: "FINISH_REASON_UNSPECIFIED" })],
    [piece({ finishReason: null }), piece({ finishReason: 1 }), piece({ finishMessage: "STOP" })],
    [event({ candidates: [{ finishReason: "STOP" }, { index: 1, ...text("b") }] })],
  ]) {
    const reader = new GenerateStreamReader();
    for (const each of events) reader.read(each);
    t.is(reader.state, "unfinished");
  }
});

test("chunks after the end are passed on, and the end is sent once", (t) => {
  const reader = new GenerateStreamReader();
  const choices = [
    ...reader.read(piece({ ...text("a"), finishReason: "STOP" })),
    ...reader.read(piece({ ...text("b"), finishReason: "STOP" })),
    ...reader.read(event({ usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2 } })),
  ];
  t.deepEqual(choices, [
    { index: 0, delta: { content: "a" }, finish_reason: "stop" },
    { index: 0, delta: { content: "b" }, finish_reason: null },
  ]);
  t.is(reader.state, "finished");
  t.is(reader.usage?.total_tokens, 5);
});

test("counts stay unchanged when an event has none", (t) => {
  const reader = new GenerateStreamReader();
  t.is(reader.usage, null);
  reader.read(event({ usageMetadata: { promptTokenCount: 3 } }));
  reader.read(event({ usageMetadata: { trafficType: "ON_DEMAND" } }));
  reader.read(piece(text("a")));
  t.is(reader.usage?.prompt_tokens, 3);
});

test("an error mid-stream is the upstream's and keeps its message", (t) => {
  const reader = new GenerateStreamReader();
  const message = "The model is overloaded. Please try again later.";
  const error = t.throws(() => reader.read(event({ error: { code: 503, message, status: "UNAVAILABLE" } })), {
    instanceOf: GatewayError,
  });
  t.like(error, { code: "upstream_error", message });
  t.is(reader.state, "unfinished");
});

for (const reason of [
  "MALFORMED_FUNCTION_CALL",
  "UNEXPECTED_TOOL_CALL",
  "OTHER",
  "OF_TOMORROW",
  "constructor",
]) {
  test(`the end ${reason} is a failure, in streams and in complete responses`, (t) => {
    const candidate = { ...text("a"), finishReason: reason, finishMessage: "Malformed function call: f(" };
    const reader = new GenerateStreamReader();
    for (const read of [
      () => reader.read(piece(candidate)),
      () => readGenerateAnswer({ candidates: [candidate] }),
    ]) {
      const error = t.throws(read, { instanceOf: GatewayError });
      t.like(error, {
        code: "upstream_error",
        message: `The model failed with ${reason} (Malformed function call: f(). Retry the request.`,
      });
    }
    t.is(reader.state, "unfinished");
  });
}

test("an invalid response is rejected", (t) => {
  for (const answer of [
    null,
    [],
    "Hello",
    {},
    { candidates: [] },
    { candidates: [null] },
    { candidates: [text("a")] },
    { candidates: [{ ...text("a"), finishReason: "FINISH_REASON_UNSPECIFIED" }] },
    { error: { message: "no" } },
  ]) {
    t.throws(() => readGenerateAnswer(answer));
  }
});

test("a finished stream does not finish twice", (t) => {
  const reader = new GenerateStreamReader();
  t.is(reader.read(piece({ ...text("a"), finishReason: "STOP" }))[0]?.finish_reason, "stop");
  t.deepEqual(reader.read(event({ promptFeedback: { blockReason: "OTHER" } })), []);
  t.is(reader.state, "finished");
});

const signature = "EqoCCqcCAb4+9vt1Xk0bqS8yqYdQv2oJ1uZ1p0gq4mHc9wW3fV8o7rT6sLkP5nB2xYz/0A==";
const skipped = "skip_thought_signature_validator";

const call = (city: string, more: object = {}) => ({
  functionCall: { name: "get_weather", args: { city }, ...more },
});

function answerOf(
  parts: object[],
  more: object = { responseId: "JniLacKqGqH0xs0P0O776As" },
): AssistantMessage {
  const { choices } = readGenerateAnswer({
    candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }],
    ...more,
  });
  if (!choices[0]) throw new Error("no choice");
  return choices[0].message;
}

/** Returns the parts of the model's turn in the next request. */
function returned(message: AssistantMessage, modelName = "gemini-3.1-pro-preview"): unknown[] {
  const results = (message.tool_calls ?? []).map(({ id }): ChatMessage => ({
    role: "tool",
    tool_call_id: id,
    content: "ok",
  }));
  const messages: ChatMessage[] = [{ role: "user", content: "Hi" }, { ...message }, ...results];
  const request = buildGenerateRequest({ model: "", messages }, { name: modelName, outputTokensMax: null });
  const { contents } = JSON.parse(JSON.stringify(request)) as { contents: { parts: unknown[] }[] };
  return contents[1]?.parts ?? [];
}

const clients: Record<string, (message: AssistantMessage) => AssistantMessage> = {
  "that returns everything": (message) => message,
  "that drops reasoning_details": ({ reasoning_details: _, ...message }) => message,
  "that drops unknown fields of calls": ({ tool_calls: calls = [], ...message }) => ({
    ...message,
    tool_calls: calls.map(({ id, type, function: called }) => ({ id, type, function: called })),
  }),
};

for (const [client, keep] of Object.entries(clients)) {
  test(`a client ${client} returns the model's thoughts`, (t) => {
    const message = answerOf([
      { text: "Let me see." },
      { ...call("Paris", { id: "abc" }), thoughtSignature: signature },
      call("Rome", { id: "def" }),
    ]);
    t.deepEqual(returned(keep(message)), [
      { text: "Let me see." },
      { ...call("Paris", { id: "abc" }), thoughtSignature: signature },
      call("Rome", { id: "def" }),
    ]);
  });
}

test("a client that drops both still works, even where Gemini requires signatures", (t) => {
  const message = answerOf([
    { ...call("Paris", { id: "abc" }), thoughtSignature: signature },
    call("Rome", { id: "def" }),
  ]);
  const { role, content, refusal, tool_calls: calls = [] } = message;
  const bare = {
    role,
    content,
    refusal,
    tool_calls: calls.map(({ id, type, function: called }) => ({ id, type, function: called })),
  };
  for (const name of [
    "gemini-3-pro-preview",
    "models/gemini-3.8-flash",
    "gemini-4-argon",
    "gemini-pro-latest",
  ]) {
    t.deepEqual(
      returned(bare, name),
      [{ ...call("Paris", { id: "abc" }), thoughtSignature: skipped }, call("Rome", { id: "def" })],
      name,
    );
  }
  for (const name of [
    "gemini-2.5-pro",
    "gemini-2.0-flash",
    "gemma-3-27b-it",
    "gemini-robotics-er-1.5-preview",
  ]) {
    t.deepEqual(returned(bare, name), [call("Paris", { id: "abc" }), call("Rome", { id: "def" })], name);
  }
});

test("the signature of a text is returned with it", (t) => {
  const message = answerOf([{ text: "Four" }, { text: ".", thoughtSignature: signature }]);
  t.deepEqual(returned(message), [{ text: "Four.", thoughtSignature: signature }]);
  t.deepEqual(returned({ ...message, content: "" }), []);
});

test("of several signatures, each call gets its own, and the text the last one", (t) => {
  const message = answerOf([
    { text: "Fo", thoughtSignature: "first" },
    { text: "ur", thoughtSignature: "second" },
    { ...call("Paris", { id: "abc" }), thoughtSignature: "third" },
    { ...call("Rome", { id: "def" }), thoughtSignature: "fourth" },
    { text: ".", thoughtSignature: "fifth" },
  ]);
  const expected = [
    { text: "Four.", thoughtSignature: "fifth" },
    { ...call("Paris", { id: "abc" }), thoughtSignature: "third" },
    { ...call("Rome", { id: "def" }), thoughtSignature: "fourth" },
  ];
  t.deepEqual(returned(message), expected);
  const { reasoning_details: details = [], ...rest } = message;
  t.deepEqual(returned({ ...rest, reasoning_details: details.toReversed() }).slice(1), expected.slice(1));
});

test("foreign and malformed details are ignored", (t) => {
  const details = [
    { type: "reasoning.encrypted", format: "openai-responses-v1", id: "abc", data: "foreign" },
    { type: "reasoning.encrypted", format: "google-gemini-v1", id: "abc", data: "" },
    { type: "reasoning.encrypted", format: "google-gemini-v1", id: "abc", data: 7 },
    null,
    "x",
  ];
  const message = answerOf([call("Paris", { id: "abc" })]);
  for (const own of [details, "x", { 0: 1 }, null]) {
    const odd = { ...message, reasoning_details: own } as AssistantMessage;
    t.deepEqual(returned(odd), [{ ...call("Paris", { id: "abc" }), thoughtSignature: skipped }]);
  }
});

test("calls without an id receive a unique one across calls and turns", (t) => {
  const parts = [call("Paris"), call("Paris"), call("Rome")];
  const turns = [
    { responseId: "one" },
    { responseId: "two" },
    { usageMetadata: { promptTokenCount: 10 } },
    { usageMetadata: { promptTokenCount: 30 } },
  ];
  const idsOf = (turn: object) => (answerOf(parts, turn).tool_calls ?? []).map(({ id }) => id);
  const ids = turns.flatMap(idsOf);
  t.is(new Set(ids).size, turns.length * parts.length);
  for (const id of ids) t.regex(id, /^call_[0-9a-f]{24}$/);
  t.deepEqual(turns.flatMap(idsOf), ids, "they are the same whenever they are read");
});

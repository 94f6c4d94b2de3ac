import test from "ava";
import { buildGenerateRequest } from "../../../gateway/providers/gemini/build-generate-request.ts";
import { readGenerateAnswer } from "../../../gateway/providers/gemini/generate-stream-reader.ts";
import type { AssistantMessage, ChatMessage } from "../../../gateway/wire/chat-completion.ts";

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

import test, { type ExecutionContext } from "ava";
import { anthropicForm, claudeOpus } from "../helpers/native-upstreams/anthropic-upstream.ts";
import { geminiForm } from "../helpers/native-upstreams/gemini-upstream.ts";
import type { Answer, Asked } from "../helpers/native-upstreams/native-upstream.ts";
import { openAiForm } from "../helpers/native-upstreams/openai-upstream.ts";
import { responsesForm } from "../helpers/native-upstreams/responses-upstream.ts";
import { loadOpenAiSchemas } from "../helpers/openai-schemas.ts";
import { type Frame, openSocket, responseOf } from "../helpers/responses-socket.ts";
import { shareGateway, sharedByFile } from "../helpers/shared-by-file.ts";
import { type Connection, connectVendor } from "../scenarios/connect-vendor.ts";
import type { Vendor } from "../scenarios/vendors.ts";

// These tests repeat the Open Responses compliance tests (openresponses.org), with upstreams as strict as the real
// vendors.
const shared = sharedByFile();
const gateway = shareGateway();
const schemas = loadOpenAiSchemas();

const takesThoughts = "sealed";
const vendors: Record<string, Vendor> = {
  OpenAI: { name: "openai", preset: "openai", form: responsesForm, takesThoughts },
  chat: { name: "chat", form: openAiForm, takesThoughts: "as text of chat" },
  Claude: { name: "claude", form: anthropicForm(claudeOpus), takesThoughts },
  Gemini: { name: "gemini", form: geminiForm({ name: "gemini-3-flash", generation: 3 }), takesThoughts },
};

/** Calls the tool if its result is missing. Otherwise, repeats the code words of the conversation. */
function answer({ turns, tools, system }: Asked): Answer {
  const text = JSON.stringify([system, turns]);
  const words = text.match(/papaya|cobalt|Alice|pirate|slate/g) ?? [];
  const isCalled = tools.length > 0 && !text.includes("22 degrees");
  return {
    thoughts: [],
    text: isCalled ? [] : ["You said: ", [...new Set(words)].join(", ") || "hello"],
    calls: isCalled ? [{ name: "get_weather", input: { location: "Rome" } }] : [],
    finish: isCalled ? "tool_calls" : "stop",
    usage: { input: 20, cached: 0, cacheWritten: 0, output: 5, thinking: 0 },
    ending: "complete",
  };
}

const user = (content: unknown) => ({ type: "message", role: "user", content });
const tools = [
  {
    type: "function",
    name: "get_weather",
    description: "The weather of a place.",
    parameters: { type: "object", properties: { location: { type: "string" } }, required: ["location"] },
  },
];

/** Members that Open Responses requires beyond OpenAI's schema. */
const required = ["completed_at", "presence_penalty", "frequency_penalty", "safety_identifier", "usage"];

type Item = { type: string; call_id?: string; content?: { text: string }[] };
type Shown = { id: string; status: string; object: string; output: Item[] };

for (const [name, vendor] of Object.entries(vendors)) {
  const isNative = vendor.preset === "openai";
  let connecting: Promise<Connection> | undefined;
  const connect = () => (connecting ??= connectVendor(shared, gateway(), vendor, answer));

  async function post(path: string, body: object): Promise<{ status: number; text: string }> {
    const { options } = await connect();
    const headers = { authorization: `Bearer ${options.apiKey}`, "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify({ model: options.model, ...body }) };
    const response = await fetch(`${options.baseUrl}${path}`, init);
    return { status: response.status, text: await response.text() };
  }

  async function create(t: ExecutionContext, body: object): Promise<Shown> {
    const { status, text } = await post("/responses", body);
    t.is(status, 200, text);
    const response = JSON.parse(text) as Shown;
    checkResponse(t, response);
    return response;
  }

  /** Skips responses of native upstreams, because their members pass unchanged. */
  function checkResponse(t: ExecutionContext, response: object): void {
    if (isNative) return;
    t.deepEqual(schemas?.faultsOfAnswer(response) ?? [], []);
    for (const member of required) t.true(member in response, member);
    t.like(response, { service_tier: "default" });
  }

  function checkEvents(t: ExecutionContext, events: readonly Frame[]): void {
    if (!isNative) for (const event of events) t.deepEqual(schemas?.faultsOfEvent(event) ?? [], []);
    const response = responseOf(events);
    checkResponse(t, response);
    t.is(response.status, "completed");
  }

  async function open(t: ExecutionContext) {
    const { options } = await connect();
    const socket = await openSocket(t, gateway(), options.apiKey);
    const { model } = options;
    return { turn: (body: object) => socket.turn({ model, store: false, ...body }) };
  }

  const textOf = ({ output }: Pick<Shown, "output">) => output.at(-1)?.content?.[0]?.text;

  test(`${name}: a response has text and every required member`, async (t) => {
    const response = await create(t, { input: [user("Say hello.")] });
    t.is(response.status, "completed");
    t.is(textOf(response), "You said: hello");
  });

  test(`${name}: every event of a stream is valid`, async (t) => {
    const { text } = await post("/responses", { input: [user("Count.")], stream: true });
    const data = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = ""]) => JSON.parse(json) as Frame);
    checkEvents(t, data);
  });

  test(`${name}: instructions and earlier turns reach the model`, async (t) => {
    const system = { type: "message", role: "system", content: "You are a pirate." };
    const assistant = { type: "message", role: "assistant", phase: "final_answer", content: "Hello Alice!" };
    const response = await create(t, { input: [system, user("I am Alice."), assistant, user("My name?")] });
    t.is(textOf(response), "You said: pirate, Alice");
  });

  test(`${name}: a tool is called, and its result continues the conversation`, async (t) => {
    const input = user("The weather in Rome?");
    const tool_choice = { type: "function", name: "get_weather" };
    const first = await create(t, { input: [input], tools, tool_choice });
    const call = first.output.find(({ type }) => type === "function_call");
    t.truthy(call?.call_id);
    const result = { type: "function_call_output", call_id: call?.call_id, output: "22 degrees" };
    const second = await create(t, { input: [input, ...first.output, result], tools });
    t.is(second.output.at(-1)?.type, "message");
  });

  test(`${name}: an image and a file are accepted`, async (t) => {
    const pixel =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const image = { type: "input_image", image_url: `data:image/png;base64,${pixel}` };
    await create(t, { input: [user([{ type: "input_text", text: "What is this?" }, image])] });
    const file_data = `data:application/pdf;base64,${Buffer.from("%PDF-1.1\n%%EOF").toString("base64")}`;
    const file = { type: "input_file", filename: "one.pdf", file_data };
    await create(t, { input: [user([{ type: "input_text", text: "Its title?" }, file])] });
  });

  test(`${name}: a conversation is compacted and continues over a WebSocket`, async (t) => {
    const history = [user("Remember: slate."), { type: "message", role: "assistant", content: "OK." }];
    const { status, text } = await post("/responses/compact", { input: history });
    // The scripted OpenAI does not support compaction.
    if (isNative) return t.is(status, 404, text);
    t.is(status, 200, text);
    const compacted = JSON.parse(text) as Shown;
    t.is(compacted.object, "response.compaction");
    t.true(compacted.output.some(({ type }) => type === "compaction"));
    const { turn } = await open(t);
    const events = await turn({ input: [...compacted.output, user("Continue.")], tools: [] });
    checkEvents(t, events);
    t.regex(textOf(responseOf(events)) ?? "", /slate/);
  });

  test(`${name}: compaction without a model gets 400`, async (t) => {
    t.is((await post("/responses/compact", { model: undefined, input: [user("Hi")] })).status, 400);
  });

  // The scripted OpenAI keeps no responses.
  if (!isNative) {
    test(`${name}: previous_response_id continues a stored response`, async (t) => {
      const first = await create(t, { input: "Remember: papaya." });
      const second = await create(t, { input: "Which word?", previous_response_id: first.id });
      t.is(textOf(second), "You said: papaya");
    });
  }

  test(`${name}: a WebSocket serves one response after another`, async (t) => {
    const { turn } = await open(t);
    checkEvents(t, await turn({ input: [user("Count.")] }));
    checkEvents(t, await turn({ input: "Reply with: second" }));
  });

  test(`${name}: a WebSocket continues a response that is not stored`, async (t) => {
    const { turn } = await open(t);
    const first = responseOf(await turn({ input: "Remember: cobalt." }));
    const events = await turn({ input: "Which word?", previous_response_id: first.id });
    checkEvents(t, events);
    t.is(textOf(responseOf(events)), "You said: cobalt");
  });

  if (!isNative) {
    test(`${name}: a new WebSocket refuses the response, then starts another`, async (t) => {
      const first = responseOf(await (await open(t)).turn({ input: "Remember: cobalt." }));
      const { turn } = await open(t);
      t.like(await turn({ input: "Go on.", previous_response_id: first.id }), [notFound]);
      checkEvents(t, await turn({ input: [user("Start again.")] }));
      const [missing] = await turn({ input: "Go on.", previous_response_id: "resp_missing_1" });
      t.like(missing, notFound);
    });

    test(`${name}: a failed turn drops the response that it refers to`, async (t) => {
      const { turn } = await open(t);
      const { id } = responseOf(await turn({ input: "Remember: cobalt." }));
      const orphan = { type: "function_call_output", call_id: "call_missing", output: "?" };
      const failed = await turn({ input: [orphan], previous_response_id: id });
      t.like(failed, [{ type: "error", status: 400 }]);
      t.like(await turn({ input: "Go on.", previous_response_id: id }), [notFound]);
    });
  }
}

const notFound = {
  type: "error",
  status: 400,
  error: { code: "previous_response_not_found", param: "previous_response_id" },
};

import test, { type ExecutionContext } from "ava";
import { parseExact } from "../../gateway/wire/exact-numbers.ts";
import {
  connectNumbers,
  createNumbersUpstream,
  exactInput,
  exactNumbersInSchema,
  exactSchema,
  numberKinds,
} from "../helpers/numbers-upstream.ts";
import { postTo } from "../helpers/post-chat.ts";
import { isFull } from "../helpers/scale.ts";
import { openSocket, responseOf } from "../helpers/responses-socket.ts";
import type { ScriptedUpstream } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const shared = sharedByFile();
let gateway: TestGateway;
let upstream: ScriptedUpstream;
let key: string;

test.before(async () => {
  upstream = await createNumbersUpstream(shared);
  gateway = await startTestGateway(shared);
  const models = await connectNumbers(gateway, upstream);
  ({ value: key } = await createKey(gateway, models));
});

async function post(path: string, body: string): Promise<string> {
  const { status, text } = await postTo(gateway, `/v1/${path}`, { authorization: `Bearer ${key}` }, body);
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return text;
}

/** Writes JSON with the exact input or schema in place of its name. */
function toBody(body: object): string {
  return JSON.stringify(body).replaceAll('"@input"', exactInput).replaceAll('"@schema"', exactSchema);
}

/** The body of the request that contains `mark`. */
function sentWith(mark: string): string {
  return upstream.requests.findLast(({ body }) => body.includes(mark))?.body ?? "";
}

function eventsOf<Event>(stream: string): Event[] {
  const lines = stream.matchAll(/^data: (\{.*\})$/gm);
  return Array.from(lines, ([, data = ""]) => JSON.parse(data) as Event);
}

type ChatCall = { function?: { arguments?: string } };
type Item = { type: string; id: string; arguments?: string };

const chat = {
  path: "chat/completions",
  ask: (mark: string) => ({ messages: [{ role: "user", content: mark }] }),
  history: (mark: string) => ({
    messages: [
      { role: "user", content: mark },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: exactInput } }],
      },
      { role: "tool", tool_call_id: "c1", content: "done" },
    ],
  }),
  tool: (strict: boolean) => ({
    type: "function",
    function: { name: "f", description: "F", parameters: "@schema", ...(strict && { strict }) },
  }),
  answerSchema: {
    response_format: { type: "json_schema", json_schema: { name: "a", strict: true, schema: "@schema" } },
  },
  argumentsIn(text: string, isStream: boolean): string {
    if (!isStream) {
      const { choices } = JSON.parse(text) as { choices: { message: { tool_calls: ChatCall[] } }[] };
      return choices[0]?.message.tool_calls[0]?.function?.arguments ?? "";
    }
    return eventsOf<{ choices: { delta: { tool_calls?: ChatCall[] } }[] }>(text)
      .map(({ choices }) => choices[0]?.delta.tool_calls?.[0]?.function?.arguments ?? "")
      .join("");
  },
};

const messages = {
  path: "messages",
  ask: (mark: string) => ({ max_tokens: 2_000, messages: [{ role: "user", content: mark }] }),
  history: (mark: string) => ({
    max_tokens: 2_000,
    messages: [
      { role: "user", content: mark },
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "f", input: "@input" }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "done" }] },
    ],
  }),
  tool: (strict: boolean) => ({
    name: "f",
    description: "F",
    input_schema: "@schema",
    ...(strict && { strict }),
  }),
  answerSchema: { output_config: { format: { type: "json_schema", schema: "@schema" } } },
  argumentsIn(text: string, isStream: boolean): string {
    if (!isStream) return /"input":(\{.*?\]\})/.exec(text)?.[1] ?? "";
    return eventsOf<{ delta?: { partial_json?: string } }>(text)
      .map(({ delta }) => delta?.partial_json ?? "")
      .join("");
  },
};

const responses = {
  path: "responses",
  ask: (mark: string) => ({ store: false, input: mark }),
  history: (mark: string) => ({
    store: false,
    input: [
      { role: "user", content: mark },
      { type: "function_call", call_id: "c1", name: "f", arguments: exactInput },
      { type: "function_call_output", call_id: "c1", output: "done" },
      { type: "tool_search_call", execution: "client", call_id: "c2", arguments: "@input" },
      { type: "tool_search_output", execution: "client", call_id: "c2", tools: [] },
    ],
  }),
  tool: (strict: boolean) => ({
    type: "function",
    name: "f",
    description: "F",
    parameters: "@schema",
    strict,
  }),
  answerSchema: { text: { format: { type: "json_schema", name: "a", strict: true, schema: "@schema" } } },
  argumentsIn(text: string, isStream: boolean): string {
    if (!isStream) return (JSON.parse(text) as { output: Item[] }).output[0]?.arguments ?? "";
    const events = eventsOf<{ type: string; delta?: string; item?: Item }>(text);
    const deltas = events.map(({ delta }) => delta ?? "").join("");
    const done = events.find(({ type }) => type === "response.output_item.done")?.item?.arguments;
    return deltas === done ? deltas : `${deltas} differs from ${done}`;
  },
};

const dialects = [chat, messages, responses];
const directions = {
  "a tool's schema": (dialect: (typeof dialects)[number], mark: string) => ({
    ...dialect.ask(mark),
    tools: [dialect.tool(false)],
  }),
  "a strict tool's schema": (dialect: (typeof dialects)[number], mark: string) => ({
    ...dialect.ask(mark),
    tools: [dialect.tool(true)],
  }),
  "the answer's schema": (dialect: (typeof dialects)[number], mark: string) => ({
    ...dialect.ask(mark),
    ...dialect.answerSchema,
  }),
};

for (const [row, dialect] of dialects.entries()) {
  for (const [column, kind] of Object.keys(numberKinds).entries()) {
    for (const stream of [false, true]) {
      const how = `${dialect.path}, ${kind}, ${stream ? "streamed" : "whole"}`;

      for (const [index, [direction, build]] of Object.entries(directions).entries()) {
        // A stream changes only the answer, so below full scale each request is sent once.
        if (!isFull && ((row + column + index) % 2 === 0) !== stream) continue;
        test(`${how}: ${direction} keeps its numbers`, async (t) => {
          const mark = `${how} ${direction}`;
          await post(dialect.path, toBody({ model: `${kind}/model`, stream, ...build(dialect, mark) }));
          const sent = sentWith(mark);
          for (const number of exactNumbersInSchema) {
            t.regex(sent, new RegExp(`[[:,]\\s*${number.replace(".", "\\.")}[,)\\]}]`));
          }
        });
      }

      test(`${how}: the input in the history keeps its numbers`, async (t) => {
        const mark = `${how} history`;
        await post(dialect.path, toBody({ model: `${kind}/model`, stream, ...dialect.history(mark) }));
        assertInputs(t, mark, dialect === responses ? 2 : 1);
      });

      test(`${how}: the answer's arguments keep their numbers`, async (t) => {
        const body = { model: `${kind}/model`, stream, ...dialect.ask(`${how} answer`) };
        const answer = await post(dialect.path, toBody({ ...body, tools: [dialect.tool(false)] }));
        t.is(dialect.argumentsIn(answer, stream), exactInput, answer);
      });
    }
  }
}

for (const kind of Object.keys(numberKinds)) {
  const model = `${kind}/model`;

  test(`${kind}: WebSocket turns and the response that they continue keep their numbers`, async (t) => {
    const socket = await openSocket(t, gateway, key);
    const mark = `${kind} on a socket`;
    const tools = [responses.tool(false)];
    const turn = (body: object) => socket.turn(parseExact(toBody({ model, tools, ...body })) as object);
    const { id } = responseOf(await turn(responses.history(mark)));
    const output = { type: "function_call_output", call_id: "c1", output: "done" };
    await turn({ store: false, previous_response_id: id, input: [output] });
    assertInputs(t, mark, 3);
    t.true(sentWith(mark).includes("9223372036854775807"), "the schema of a tool");
  });

  // Azure stores its responses itself.
  if (kind === "azure-openai") continue;

  test(`${kind}: a stored response, its input items and references keep numbers`, async (t) => {
    const mark = `${kind} stored`;
    const first = await post("responses", toBody({ model, ...responses.history(mark), store: true }));
    const { id } = JSON.parse(first) as { id: string };
    const listed = await fetch(`${gateway.url}/v1/responses/${id}/input_items?order=asc`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const items = await listed.text();
    t.true(items.includes(`"arguments":${exactInput}`), items);
    const { data } = JSON.parse(items) as { data: Item[] };
    const references = data.map((item) => ({ type: "item_reference", id: item.id }));
    await post("responses", toBody({ model, store: false, input: references }));
    assertInputs(t, mark, 2);
  });
}

function assertInputs(t: ExecutionContext, mark: string, count: number): void {
  const sent = sentWith(mark).replaceAll("\\", "");
  t.is(sent.split(exactInput.slice(1, -1)).length - 1, count, sent);
}

/** Half of an emoji, as `JSON.stringify` writes the half of a text that was cut within a character. */
const half = String.raw`\ud83d`;
const cutOff = '{"a": "cut ';

type History = { path: string; body: (question: string, mark: string) => object };

const asked = { role: "user", content: "Hello" };
const answered = { role: "assistant", content: "Hi!" };
const conversations: History[] = [
  {
    path: "chat/completions",
    body: (question, mark) => ({
      user: mark,
      messages: [asked, answered, { role: "user", content: question }],
    }),
  },
  {
    path: "messages",
    body: (question, mark) => ({
      max_tokens: 99,
      metadata: { user_id: mark },
      messages: [asked, answered, { role: "user", content: question }],
    }),
  },
  {
    path: "responses",
    body: (question, mark) => ({
      store: false,
      user: mark,
      input: [asked, answered, { role: "user", content: question }],
    }),
  },
];

const calls: History[] = [
  {
    path: "chat/completions",
    body: (args) => ({
      messages: [
        asked,
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: args } }],
        },
        { role: "tool", tool_call_id: "c1", content: "not run" },
        { role: "user", content: "go on" },
      ],
    }),
  },
  {
    path: "responses",
    body: (args) => ({
      store: false,
      input: [
        asked,
        { type: "function_call", call_id: "c1", name: "f", arguments: args },
        { type: "function_call_output", call_id: "c1", output: "not run" },
        { role: "user", content: "go on" },
      ],
    }),
  },
];

async function send(kind: string, { path }: History, body: object | string): Promise<string> {
  const text = (typeof body === "string" ? body : JSON.stringify(body)).replace(
    "{",
    `{"model":"${kind}/model",`,
  );
  const count = upstream.requests.length;
  await post(path, text);
  return upstream.requests[count]?.body ?? "";
}

type Turns = { messages?: Turn[]; contents?: Turn[]; input?: Turn[] };
type Turn = { role: string; content?: unknown; parts?: unknown };

for (const [row, kind] of Object.keys(numberKinds).entries()) {
  // Below full scale, each kind of upstream is streamed or not.
  for (const stream of isFull ? [false, true] : [row % 2 === 0]) {
    const how = `${kind}, ${stream ? "streamed" : "whole"}`;

    for (const history of calls) {
      test.serial(`${history.path} × ${how}: cut-off arguments reach the model`, async (t) => {
        const sent = await send(kind, history, { stream, ...history.body(cutOff, "") });
        t.true(sent.replaceAll("\\", "").includes(cutOff), sent);
        t.true(sent.includes("go on"));
      });
    }

    for (const history of conversations) {
      for (const blank of ["", " \n"]) {
        test.serial(
          `${history.path} × ${how}: a blank question ${JSON.stringify(blank)} stays a turn`,
          async (t) => {
            const sent = JSON.parse(
              await send(kind, history, { stream, ...history.body(blank, "") }),
            ) as Turns;
            const turns = sent.messages ?? sent.contents ?? sent.input ?? [];
            t.deepEqual(
              turns.map(({ role }) => role.replace("model", "assistant")),
              ["user", "assistant", "user"],
            );
            t.notDeepEqual(turns[2]?.content, []);
            t.notDeepEqual(turns[2]?.parts, []);
          },
        );
      }

      test.serial(`${history.path} × ${how}: half of an emoji is replaced or passes unchanged`, async (t) => {
        const text = JSON.stringify({ stream, ...history.body("a@half@b \\ud83d", "") }).replace(
          "@half@",
          half,
        );
        const sent = await send(kind, history, text);
        const isNative =
          (history.path === "chat/completions" && /openai/.test(kind)) ||
          (history.path === "messages" && kind === "anthropic") ||
          (history.path === "responses" && kind === "azure-openai");
        t.true(sent.includes(isNative ? `a${half}b` : "a\ufffdb"), sent);
        t.true(sent.includes(String.raw`\\ud83d`), "an escaped backslash is no surrogate");
      });
    }
  }

  test.serial(`${kind}: a conversation of one blank message gets a text`, async (t) => {
    const [chat] = conversations;
    if (chat === undefined) return t.fail();
    const sent = await send(kind, chat, { messages: [{ role: "user", content: "" }] });
    const { messages, contents } = JSON.parse(sent) as Turns;
    t.is((messages ?? contents)?.length, 1, sent);
    if (!kind.includes("openai")) t.regex(sent, /\(empty\)/);
  });
}

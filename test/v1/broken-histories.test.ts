import test from "ava";
import { connectNumbers, createNumbersUpstream, numberKinds } from "../helpers/numbers-upstream.ts";
import { postTo } from "../helpers/post-chat.ts";
import type { ScriptedUpstream } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

// A conversation with a broken or blank part goes on, on every kind of upstream.
const shared = sharedByFile();
let gateway: TestGateway;
let upstream: ScriptedUpstream;
let key: string;

test.before(async () => {
  upstream = await createNumbersUpstream(shared);
  gateway = await startTestGateway(shared);
  ({ value: key } = await createKey(gateway, await connectNumbers(gateway, upstream)));
});

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
  const answer = await postTo(gateway, `/v1/${path}`, { authorization: `Bearer ${key}` }, text);
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
  return upstream.requests[count]?.body ?? "";
}

type Turns = { messages?: Turn[]; contents?: Turn[]; input?: Turn[] };
type Turn = { role: string; content?: unknown; parts?: unknown };

for (const kind of Object.keys(numberKinds)) {
  for (const stream of [false, true]) {
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

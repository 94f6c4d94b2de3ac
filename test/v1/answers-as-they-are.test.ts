import test, { type ExecutionContext } from "ava";
import { connectNumbers, numberKinds } from "../helpers/numbers-upstream.ts";
import { postTo } from "../helpers/post-chat.ts";
import { createUpstream, type ScriptedUpstream } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";
import {
  anthropicAnswer,
  bedrockAnswer,
  chatAnswer,
  chatChunk,
  geminiAnswer,
  geminiCandidate,
  responsesAnswer,
  sendAnswer,
  sse,
  type VendorAnswer,
} from "../helpers/vendor-answers.ts";

// Answers in valid but unusual forms. `numbers` in the upstream's path names the kind.
type Kind = keyof typeof numberKinds;

const shared = sharedByFile();
let gateway: TestGateway;
let upstream: ScriptedUpstream;
let models: string[];
let next: (url: string) => VendorAnswer;

test.before(async () => {
  upstream = await createUpstream(shared, (request, response) =>
    sendAnswer(request, response, next(request.url)),
  );
  gateway = await startTestGateway(shared);
  models = await connectNumbers(gateway, upstream);
});

const bodies = {
  "chat/completions": { messages: [{ role: "user", content: "one two three four five six" }] },
  messages: { max_tokens: 99, messages: [{ role: "user", content: "one two three four five six" }] },
  responses: { store: false, input: "one two three four five six" },
};
type Endpoint = keyof typeof bodies;
const endpoints = Object.keys(bodies) as Endpoint[];
const kinds = Object.keys(numberKinds) as Kind[];

function isNative(endpoint: Endpoint, kind: Kind): boolean {
  return (
    (endpoint === "chat/completions" && kind.includes("openai")) ||
    (endpoint === "messages" && kind === "anthropic") ||
    (endpoint === "responses" && kind === "azure-openai")
  );
}

async function ask(t: ExecutionContext, endpoint: Endpoint, kind: Kind, stream: boolean) {
  const key = await createKey(gateway, models);
  const body = { model: `${kind}/model`, stream, ...bodies[endpoint] };
  const usage = stream && endpoint === "chat/completions" ? { stream_options: { include_usage: true } } : {};
  const headers = { authorization: `Bearer ${key.value}` };
  const answer = await postTo(gateway, `/v1/${endpoint}`, headers, { ...body, ...usage });
  const [record] = await usageOf(gateway, key.id);
  t.is(answer.status, 200, answer.text);
  return { ...answer, record };
}

/** Answers with the text "FIRST second", without any usage. */
const pieces = ["FIRST ", "second"];
const texts: Record<Kind | "responses", VendorAnswer> = {
  "openai-compatible": chatAnswer("stop", {}, pieces),
  "azure-openai": chatAnswer("stop", {}, pieces),
  anthropic: anthropicAnswer("end_turn", null, pieces),
  gemini: geminiAnswer("STOP", pieces),
  bedrock: bedrockAnswer("end_turn", pieces),
  responses: responsesAnswer("completed", null, pieces),
};

/** @param change applies to a whole answer and to server-sent events, not to AWS's binary events */
function sendText(kind: Kind, change: (text: string, streamed: boolean) => string = (text) => text): void {
  next = (url) => {
    const answer = texts[url.includes("/responses") ? "responses" : kind];
    const { whole, events, eventType } = answer;
    return {
      ...answer,
      whole: change(whole, false),
      events: eventType === undefined ? change(events, true) : events,
    };
  };
}

const textIn = (answer: string) =>
  [...answer.matchAll(/"(?:content|text|delta)":"([^"]*)"/g)].map(([, text = ""]) => text).join("");

for (const endpoint of endpoints) {
  for (const kind of kinds) {
    for (const stream of [false, true]) {
      const how = `${endpoint} × ${kind}, ${stream ? "streamed" : "whole"}`;

      test.serial(`${how}: usage that the upstream did not send is the record's estimate`, async (t) => {
        sendText(kind);
        const { text, record } = await ask(t, endpoint, kind, stream);
        t.like(record, { status: "SUCCEEDED", estimated: true });
        t.true((record?.outputTokens ?? 0) > 0);
        if (isNative(endpoint, kind)) return;
        const counts = [...text.matchAll(/"(prompt|input|completion|output)_tokens":(\d+)/g)];
        const last = (...names: string[]) =>
          Number(counts.findLast(([, name = ""]) => names.includes(name))?.[2]);
        t.is(last("prompt", "input"), record?.inputTokens ?? 0, text);
        t.is(last("completion", "output"), record?.outputTokens ?? 0, text);
        t.notRegex(text, /"(?:prompt|input|total)_tokens":0\b/);
      });

      test.serial(`${how}: a byte order mark loses nothing`, async (t) => {
        sendText(kind, (text) => `\ufeff${text}`);
        t.regex(textIn((await ask(t, endpoint, kind, stream)).text), /FIRST.*second/);
      });

      if (!stream) continue;

      test.serial(`${how}: data in several lines is one event`, async (t) => {
        for (const lineEnd of ["\n", "\r\n"]) {
          sendText(kind, (text) =>
            text.replaceAll(/^(data: \{)(.*\})$/gm, "$1\ndata: $2").replaceAll("\n", lineEnd),
          );
          const { text, record } = await ask(t, endpoint, kind, stream);
          t.regex(textIn(text), /FIRST.*second/);
          t.is(record?.status, "SUCCEEDED");
          t.regex(text, /"model": ?"[a-z-]+\/model"/);
        }
      });
    }
  }

  test.serial(`${endpoint}: a count that Anthropic's API left out is estimated`, async (t) => {
    if (endpoint === "messages") return t.pass();
    for (const stream of [false, true]) {
      sendText("anthropic", (text) =>
        text.replaceAll('"stop_sequence":null', '"stop_sequence":null,"usage":{"output_tokens":7}'),
      );
      const { text, record } = await ask(t, endpoint, "anthropic", stream);
      t.true((record?.inputTokens ?? 0) > 0);
      t.notRegex(text.slice(text.lastIndexOf('"usage"')), /"(?:prompt|input)_tokens":0\b/);
    }
  });

  test.serial(`${endpoint}: a count that the upstream left out is estimated`, async (t) => {
    for (const usage of [
      { prompt_tokens: 7 },
      { completion_tokens: 7 },
      { prompt_tokens: 7, completion_tokens: null },
    ]) {
      sendText("openai-compatible", (text, streamed) =>
        streamed
          ? text.replace("data: [DONE]", `data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]`)
          : text.replace(/\}$/, `,"usage":${JSON.stringify(usage)}}`),
      );
      for (const stream of [false, true]) {
        const { text, record } = await ask(t, endpoint, "openai-compatible", stream);
        t.is(usage.prompt_tokens === undefined ? record?.outputTokens : record?.inputTokens, 7);
        const last = text.slice(text.lastIndexOf('"usage"'));
        if (endpoint !== "chat/completions") t.notRegex(last, /"(?:input|output)_tokens":0\b/);
      }
    }
  });

  for (const stream of [false, true]) {
    const how = `${endpoint}, ${stream ? "streamed" : "whole"}`;
    const callIn = (text: string) => text.replaceAll("\\", "");

    test.serial(`${how}: a call in function_call is a call`, async (t) => {
      const whole = JSON.stringify({
        choices: [
          {
            index: 0,
            message: {
              role: "assistant",
              content: null,
              function_call: { name: "look", arguments: '{"a":1}' },
            },
            finish_reason: "function_call",
          },
        ],
      });
      const events = sse(
        chatChunk({ role: "assistant", function_call: { name: "look", arguments: "" } }),
        chatChunk({ function_call: { arguments: '{"a":' } }),
        chatChunk({ function_call: { arguments: "1}" } }),
        chatChunk({}, "function_call"),
        "[DONE]",
      );
      next = () => ({ whole, events });
      const { text } = await ask(t, endpoint, "openai-compatible", stream);
      t.regex(text, /"name":"look"/);
      if (endpoint === "messages") t.regex(text, /"stop_reason":"tool_use"/);
      if (endpoint === "responses") t.regex(callIn(text), /"type":"function_call".*"arguments":"\{"a":1\}"/s);
    });

    test.serial(`${how}: images of Gemini reach the client, or are named`, async (t) => {
      const image = { inlineData: { mimeType: "image/png", data: "aW1hZ2U=" } };
      const whole = geminiCandidate([{ text: "Look:" }, image], "STOP");
      next = () => ({ whole, events: sse(whole) });
      const { text } = await ask(t, endpoint, "gemini", stream);
      if (endpoint === "messages") t.regex(text, /returned an image/);
      else
        t.regex(
          text,
          endpoint === "responses"
            ? /"image_generation_call".*"aW1hZ2U="/s
            : /"images":\[.*data:image\/png;base64,aW1hZ2U=/,
        );
    });
  }

  test.serial(`${endpoint}: arguments before the name of a call are kept`, async (t) => {
    const piece = (index: number, fn: object, id?: string) =>
      chatChunk({ tool_calls: [{ index, ...(id && { id }), type: "function", function: fn }] });
    const events = sse(
      piece(0, { arguments: '{"a":' }, "c1"),
      piece(1, { arguments: '{"b":' }, "c2"),
      piece(0, { arguments: "1" }),
      piece(1, { name: "second", arguments: "2}" }),
      piece(0, { name: "first" }),
      piece(0, { arguments: "}" }),
      chatChunk({}, "tool_calls"),
      "[DONE]",
    );
    next = () => ({ whole: "", events });
    const { text } = await ask(t, endpoint, "openai-compatible", true);
    if (endpoint === "messages") {
      const inputs = [...text.matchAll(/"partial_json":"((?:[^"\\]|\\.)*)"/g)].map(([, json = ""]) => json);
      t.deepEqual(inputs.join("").replaceAll("\\", ""), '{"b":2}{"a":1}');
      t.regex(text, /"id":"c2","name":"second".*"id":"c1","name":"first"/s);
    } else if (endpoint === "responses") {
      const done = [...text.matchAll(/"call_id":"(c\d)","name":"(\w+)","arguments":"(\{\\[^}]*\})"/g)];
      t.deepEqual(
        [
          ...new Set(done.map(([, id, name, args = ""]) => `${id} ${name} ${args.replaceAll("\\", "")}`)),
        ].toSorted(),
        ['c1 first {"a":1}', 'c2 second {"b":2}'],
      );
    }
  });
}

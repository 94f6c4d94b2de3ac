import test from "ava";
import { createModel } from "../helpers/connect-upstream.ts";
import { frameAwsEvent } from "../helpers/frame-events.ts";
import { anthropicForm, claudeHaiku } from "../helpers/native-upstreams/anthropic-upstream.ts";
import { bedrockForm } from "../helpers/native-upstreams/bedrock-upstream.ts";
import { geminiForm } from "../helpers/native-upstreams/gemini-upstream.ts";
import {
  type Answer,
  anyQuestion,
  buildAnswer,
  type VendorForm,
} from "../helpers/native-upstreams/native-upstream.ts";
import { openAiForm } from "../helpers/native-upstreams/openai-upstream.ts";
import { responsesForm } from "../helpers/native-upstreams/responses-upstream.ts";
import { VendorRefusal } from "../helpers/native-upstreams/vendor-refusal.ts";
import { postTo } from "../helpers/post-chat.ts";
import { createUpstream } from "../helpers/scripted-upstream.ts";
import { isFull } from "../helpers/scale.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { spoilJson } from "../helpers/spoil-json.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

// Each upstream response, stream or error has one malformed place. The client must receive a response or an error.
const deep = "[".repeat(9_000) + "]".repeat(9_000);
const oddTexts = ["NaN", "[null]", `{"toString":null,"a":${deep}}`];

const said: Answer = {
  thoughts: ["Hm, ", "well."],
  text: ["Hel", "lo"],
  calls: [
    { name: "local_shell", input: { command: ["ls"] } },
    { name: "f", input: { a: 1 } },
  ],
  finish: "tool_calls",
  usage: { input: 20, cached: 5, cacheWritten: 0, output: 9, thinking: 3 },
  ending: "complete",
};
const answerIn = (form: VendorForm) => buildAnswer(form, said, { ...anyQuestion, isThinking: true });

type Sent = { status: number; type: string; body: string | Buffer };

const shared = sharedByFile();
let gateway: TestGateway;
let sent: Sent;

const vendors = {
  openai: { form: openAiForm, settings: { kind: "openai-compatible", preset: "openai" } },
  chat: { form: openAiForm, settings: { kind: "openai-compatible" } },
  anthropic: { form: anthropicForm(claudeHaiku), settings: { kind: "anthropic" } },
  gemini: { form: geminiForm({ name: "gemini-2.5-flash", generation: 2 }), settings: { kind: "gemini" } },
  bedrock: { form: bedrockForm, settings: { kind: "bedrock" } },
} as const;

const f = { name: "f", parameters: { type: "object" } };
const messages = [{ role: "user", content: "x" }];
const clients = {
  chat: {
    path: "/v1/chat/completions",
    more: { messages, tools: [{ type: "function", function: f }] },
    end: /data: (\[DONE\]|\{"error".*)\n\n$/,
  },
  messages: {
    path: "/v1/messages",
    more: { messages, max_tokens: 2_000, thinking: { type: "enabled", budget_tokens: 1_024 } },
    end: /event: (message_stop|error)\ndata: .*\n\n$/,
  },
  responses: {
    path: "/v1/responses",
    more: {
      input: "x",
      include: ["reasoning.encrypted_content"],
      tools: [{ type: "local_shell" }, { type: "function", ...f }],
    },
    end: /event: response\.(completed|incomplete|failed)\ndata: .*\n\n$/,
  },
};

test.before(async () => {
  const { url } = await createUpstream(shared, (_request, response) => {
    response.writeHead(sent.status, { "content-type": sent.type });
    response.end(sent.body);
  });
  gateway = await startTestGateway(shared);
  for (const [name, { form, settings }] of Object.entries(vendors)) {
    const { credential: apiKey, model: upstreamModel } = form;
    const model = { name, path: "", apiKey, upstreamModel, ...settings };
    await createModel(gateway, { url: form.baseUrl(url) }, model);
  }
});

for (const name of Object.keys(vendors) as (keyof typeof vendors)[]) {
  for (const client of Object.keys(clients) as (keyof typeof clients)[]) {
    // OpenAI differs from compatible providers only for clients of the responses API.
    if (name === "openai" && client !== "responses") continue;
    const form: VendorForm = name === "openai" ? responsesForm : vendors[name].form;
    const { path, more, end } = clients[client];
    const answers: [string, Iterable<Sent>, (status: number, text: string) => boolean][] = [
      ["answer", oddAnswers(form), (status) => status === 200 || status === 502],
      [
        "stream",
        oddStreams(form, client),
        (status, text) => status === 502 || (status === 200 && end.test(text)),
      ],
      ["error", oddErrors(form), (status) => status === 400],
    ];
    for (const [what, odd, isRight] of answers) {
      // The tests are serial, because they share `sent`.
      test.serial(`${client} from ${name} handles any ${what}`, async (t) => {
        const key = await createKey(gateway, [`${name}/model`]);
        const headers = { authorization: `Bearer ${key.value}` };
        const body = { model: `${name}/model`, stream: what === "stream", ...more };
        let count = 0;
        for (sent of odd) {
          count++;
          const { status, text } = await postTo(gateway, path, headers, body);
          if (!isRight(status, text)) t.fail(`${status} ${text}\nfor ${String(sent.body).slice(0, 2_000)}`);
        }
        t.true(count > 5, `${count} answers`);
        t.true((await usageOf(gateway, key.id)).length > 0);
        t.false(gateway.log.some((line) => line.includes("internal error")));
        t.deepEqual(gateway.services.openExchanges.keyIds(), []);
      });
    }
  }
}

function* oddAnswers(form: VendorForm): Generator<Sent> {
  for (const body of spoil(JSON.parse(answerIn(form).whole)))
    yield { status: 200, type: "application/json", body };
}

function* oddErrors(form: VendorForm): Generator<Sent> {
  const { status, body: refusal } = form.refuse(new VendorRefusal("invalid", "No."));
  for (const body of spoilJson(refusal, oddTexts)) yield { status, type: "application/json", body };
}

/** Below full scale, each place receives only one of the texts. */
function spoil(json: unknown): string[] {
  const count = oddTexts.length;
  const isTried = (index: number) => isFull || index % count === Math.floor(index / count) % count;
  return [...spoilJson(json, oddTexts)].filter((_text, index) => isTried(index));
}

/**
 * Yields streams in which one event is malformed. Only the first event of each kind is changed. Below full scale, the
 * clients of a vendor share the streams.
 */
function* oddStreams(form: VendorForm, client: keyof typeof clients): Generator<Sent> {
  const names = form === responsesForm ? [client] : Object.keys(clients);
  let count = 0;
  const { streamContentType: type } = form;
  const { events } = answerIn(form);
  const known = new Set<string>();
  for (const [index, event] of events.entries()) {
    const { data, toEvent } = type.startsWith("text/") ? openTextEvent(event) : openAwsEvent(event);
    const shape = `${event.toString("latin1").split("{")[0]} ${data.replaceAll(/:("[^"]*"|\d+)/g, "")}`;
    if (known.has(shape) || !data.startsWith("{")) continue;
    known.add(shape);
    // To limit the number of streams, each kind of event receives only one of the texts.
    const oddText = oddTexts[known.size % oddTexts.length] ?? "";
    for (const text of spoilJson(JSON.parse(data), [oddText])) {
      if (!isFull && names[count++ % names.length] !== client) continue;
      yield { status: 200, type, body: Buffer.concat(events.with(index, toEvent(text))) };
    }
  }
}

type OpenEvent = { data: string; toEvent: (data: string) => Buffer };

function openTextEvent(event: Buffer): OpenEvent {
  const [before = "", data = ""] = event.toString("utf8").split(/(?<=data: )/);
  const end = /\s*$/.exec(data)?.[0] ?? "";
  return { data: data.trimEnd(), toEvent: (text) => Buffer.from(before + text + end) };
}

/**
 * Reads only the header `:event-type`. One byte for the value's type and two for its length follow the header's name.
 */
function openAwsEvent(event: Buffer): OpenEvent {
  const headersEnd = 12 + event.readUInt32BE(4);
  const lengthAt = event.indexOf(":event-type") + ":event-type".length + 1;
  const name = event.toString("utf8", lengthAt + 2, lengthAt + 2 + event.readUInt16BE(lengthAt));
  const data = event.toString("utf8", headersEnd, event.length - 4);
  return { data, toEvent: (text) => frameAwsEvent(name, text) };
}

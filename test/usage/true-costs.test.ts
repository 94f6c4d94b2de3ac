import test from "ava";
import { findKnownModel } from "../../gateway/known-models/known-models.ts";
import { createModel } from "../helpers/connect-upstream.ts";
import { bedrockForm } from "../helpers/native-upstreams/bedrock-upstream.ts";
import { postTo } from "../helpers/post-chat.ts";
import { createUpstream, type ScriptedUpstream } from "../helpers/scripted-upstream.ts";
import { isFull } from "../helpers/scale.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";
import { anthropic, openai, type PricedAnswer, responses } from "./priced-answers.ts";
import { bedrock, converseAnswer, converseStream } from "./priced-bedrock-answers.ts";
import { gemini } from "./priced-gemini-answers.ts";

const shared = sharedByFile();
let gateway: TestGateway;
let upstream: ScriptedUpstream;
const providerIds = new Map<string, string>();

type Vendor = {
  name: string;
  kind: "openai-compatible" | "anthropic" | "gemini" | "bedrock";
  preset?: string;
  url: string;
  answers: PricedAnswer[];
  clients: Client[];
};

type Client = "chat/completions" | "messages" | "responses";

const vendors: Vendor[] = [
  {
    name: "anthropic",
    kind: "anthropic",
    url: "https://api.anthropic.com",
    answers: anthropic,
    clients: ["messages", "chat/completions", "responses"],
  },
  {
    name: "openai",
    kind: "openai-compatible",
    url: "https://api.openai.com/v1",
    answers: openai,
    clients: ["chat/completions", "messages"],
  },
  {
    name: "responses",
    kind: "openai-compatible",
    preset: "openai",
    url: "https://api.openai.com/v1",
    answers: responses,
    clients: ["responses"],
  },
  {
    name: "bedrock",
    kind: "bedrock",
    url: "https://bedrock-runtime.us-east-1.amazonaws.com",
    answers: bedrock,
    clients: ["chat/completions", "messages", "responses"],
  },
  {
    name: "gemini",
    kind: "gemini",
    url: "https://generativelanguage.googleapis.com",
    answers: gemini,
    clients: ["chat/completions", "messages", "responses"],
  },
];

const now = new Date("2026-11-24");
const marker = (vendor: Vendor, row: number) => `${vendor.name} answer ${row}.`;

test.before(async () => {
  upstream = await createUpstream(shared, ({ body, url }, response) => {
    const vendor = vendors.find(({ name }) => body.includes(`${name} answer `));
    const answer = vendor?.answers[Number(/ answer (\d+)\./.exec(body)?.[1])];
    if (!vendor || !answer) throw new Error(`No answer for ${body}`);
    const isStream = body.includes('"stream":true') || /streamGenerateContent|converse-stream/.test(url);
    const streamType = vendor.kind === "bedrock" ? bedrockForm.streamContentType : "text/event-stream";
    response.writeHead(200, { "content-type": isStream ? streamType : "application/json" });
    response.end(isStream ? formats[vendor.name]?.stream(answer) : formats[vendor.name]?.whole(answer));
  });
  gateway = await startTestGateway(shared);
  for (const { name, kind, preset } of vendors) {
    const isBedrock = kind === "bedrock";
    const url = isBedrock ? bedrockForm.baseUrl(upstream.url) : upstream.url;
    const own = isBedrock && { path: "", apiKey: bedrockForm.credential };
    const { providerId } = await createModel(gateway, { url }, { name, kind, preset, ...own });
    providerIds.set(name, providerId);
  }
});

test("the table has at least 60 different answers", (t) => {
  const rows = vendors.flatMap(({ answers }) => answers.map((answer) => JSON.stringify(answer)));
  t.true(new Set(rows).size >= 60, `${rows.length} rows`);
});

for (const vendor of vendors) {
  for (const [row, answer] of vendor.answers.entries()) {
    test(`${vendor.name} ${row}: ${answer.model} costs $${answer.usd}`, async (t) => {
      const known = await findKnownModel({ baseUrls: [vendor.url], now }, answer.model);
      t.truthy(known);
      const slug = `${vendor.name}/row-${row}`;
      await gateway.admin.models.create.mutate({
        slug,
        providerId: providerIds.get(vendor.name) ?? "",
        upstreamModel: answer.model,
        ...(known && { prices: known.prices }),
      });
      const { id, value } = await createKey(gateway, [slug]);
      const asked = formsOf(vendor, row);
      for (const { client, stream } of asked) {
        const body = { ...bodyOf(client, marker(vendor, row)), model: slug, stream };
        const headers = { authorization: `Bearer ${value}` };
        const { status, text } = await postTo(gateway, `/v1/${client}`, headers, body);
        t.is(status, 200, text);
      }
      const records = await usageOf(gateway, id);
      t.is(records.length, asked.length);
      for (const { cost, endpoint, stream, costDetails } of records) {
        t.is(
          cost,
          Math.round(Number(answer.usd) * 1e9),
          `${endpoint} ${stream} ${JSON.stringify(costDetails)}`,
        );
        const sum = costDetails?.lines.reduce((total, { amount }) => total + (amount ?? 0), 0);
        t.is(sum ?? cost, cost, "the lines add up");
      }
    });
  }
}

/** Below full scale, each answer is read in both native forms, and for another client in one form. */
function formsOf({ clients }: Vendor, row: number): { client: Client; stream: boolean }[] {
  const all = clients.flatMap((client) => [false, true].map((stream) => ({ client, stream })));
  const [others, native] = [all.slice(2), all.slice(0, 2)];
  return isFull || others.length === 0 ? all : [...native, ...others.slice(row % others.length).slice(0, 1)];
}

function bodyOf(client: Client, prompt: string): object {
  if (client === "responses") return { input: prompt };
  const messages = [{ role: "user", content: prompt }];
  // `parallel_tool_calls: false` limits translated answers to one tool call and must not change the usage.
  return client === "messages" ? { messages, max_tokens: 100 } : { messages, parallel_tool_calls: false };
}

type Format = { whole: (answer: PricedAnswer) => string; stream: (answer: PricedAnswer) => string | Buffer };

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const event = (value: { type: string; [member: string]: unknown }) => `event: ${value.type}\n${data(value)}`;
const text = { type: "text", text: "Hi" };
const candidate = { content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP", index: 0 };

const formats: Record<string, Format> = {
  openai: {
    whole: ({ usage, beside, model }) =>
      JSON.stringify({
        id: "chatcmpl-1",
        object: "chat.completion",
        created: 1,
        model,
        choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
        usage,
        ...beside,
      }),
    stream: ({ usage, beside, model }) => {
      const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model, ...beside };
      const choice = { index: 0, delta: { content: "Hi" }, finish_reason: "stop" };
      return `${data({ ...head, choices: [choice], usage: null })}${data({ ...head, choices: [], usage })}data: [DONE]\n\n`;
    },
  },
  responses: {
    whole: (answer) => JSON.stringify(responseOf(answer)),
    stream: (answer) =>
      event({ type: "response.created", response: { ...responseOf(answer), output: [], usage: null } }) +
      event({ type: "response.completed", response: responseOf(answer) }),
  },
  anthropic: {
    whole: ({ usage, model }) =>
      JSON.stringify({
        id: "msg_1",
        type: "message",
        role: "assistant",
        model,
        content: [text],
        stop_reason: "end_turn",
        usage,
      }),
    stream: ({ usage, model }) => {
      const message = {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model,
        content: [],
        stop_reason: null,
      };
      return [
        { type: "message_start", message: { ...message, usage: { ...usage, output_tokens: 0 } } },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
        { type: "message_stop" },
      ]
        .map(event)
        .join("");
    },
  },
  bedrock: { whole: converseAnswer, stream: converseStream },
  gemini: {
    whole: ({ usage }) => JSON.stringify({ candidates: [candidate], usageMetadata: usage }),
    stream: ({ usage }) => data({ candidates: [candidate], usageMetadata: usage }),
  },
};

function responseOf({ model, usage, beside }: PricedAnswer) {
  return { id: "resp_1", object: "response", status: "completed", model, output: [], usage, ...beside };
}

import test, { type ExecutionContext } from "ava";
import { createModel } from "../helpers/connect-upstream.ts";
import { numberKinds } from "../helpers/numbers-upstream.ts";
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
  responsesAnswer,
  sendAnswer,
  sse,
  type VendorAnswer,
} from "../helpers/vendor-answers.ts";

// The ends of responses, over dialects and kinds: the client and the record get the same verdict.
type Kind = keyof typeof numberKinds;

const shared = sharedByFile();
let gateway: TestGateway;
let upstream: ScriptedUpstream;
let fallbackUrl: string;
let next: VendorAnswer;
let count = 0;

const bodies = {
  "chat/completions": { stop: ["END"], messages: [{ role: "user", content: "Hi" }] },
  messages: { stop_sequences: ["END"], max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
  responses: { store: false, input: "Hi" },
};
type Endpoint = keyof typeof bodies;
const endpoints = Object.keys(bodies) as Endpoint[];
const kinds = Object.keys(numberKinds) as Kind[];
const chatKinds: readonly Kind[] = ["openai-compatible", "azure-openai"];

/** The last words of a complete stream. */
const ends = { "chat/completions": "[DONE]", messages: '"message_stop"', responses: '"response.completed"' };

test.before(async () => {
  gateway = await startTestGateway(shared, { environment: { UPSTREAM_RETRY_PERCENT_MAX: "100" } });
  const good = await createUpstream(shared, (request, response) =>
    sendAnswer(request, response, chatAnswer("stop", {}, ["FALLBACK"])),
  );
  fallbackUrl = good.url;
  upstream = await createUpstream(shared, (request, response) => sendAnswer(request, response, next));
});

async function addModel(url: string, kind: Kind, fallbacks: string[] = []): Promise<string> {
  const settings = { name: `p${++count}`, kind, fallbacks, ...numberKinds[kind] };
  return (await createModel(gateway, { url }, settings)).model;
}

/** Asks a new model, because failures cool a provider down. */
async function ask(endpoint: Endpoint, kind: Kind, stream: boolean, answer: VendorAnswer, fallback?: string) {
  next = answer;
  const fallbacks = fallback === undefined ? [] : [fallback];
  const model = await addModel(upstream.url, kind, fallbacks);
  const key = await createKey(gateway, [model, ...fallbacks]);
  const headers = { authorization: `Bearer ${key.value}` };
  const { status, text } = await postTo(gateway, `/v1/${endpoint}`, headers, {
    model,
    stream,
    ...bodies[endpoint],
  });
  const [record] = await usageOf(gateway, key.id);
  return { status, text, record };
}

function succeeds(
  t: ExecutionContext,
  { status, text, record }: Awaited<ReturnType<typeof ask>>,
  endpoint: Endpoint,
  stream: boolean,
): void {
  t.is(status, 200, text);
  t.is(record?.status, "SUCCEEDED", text);
  if (stream) t.true(text.trimEnd().endsWith("}") || text.includes("[DONE]"), text);
  if (stream) t.true(text.includes(ends[endpoint]), text);
}

function fails(
  t: ExecutionContext,
  { text, record }: Awaited<ReturnType<typeof ask>>,
  endpoint: Endpoint,
): void {
  t.is(record?.status, "FAILED", text);
  t.regex(text, /"error"/);
  t.false(text.includes(ends[endpoint]), text);
}

const matched: [string, Kind, VendorAnswer][] = [
  ["vLLM", "openai-compatible", chatAnswer("stop", { stop_reason: "END" })],
  ["SGLang", "openai-compatible", chatAnswer("stop", { matched_stop: "END" })],
  ["anthropic", "anthropic", anthropicAnswer("stop_sequence", "END")],
  ["bedrock", "bedrock", bedrockAnswer("stop_sequence")],
];
const failures: [string, Kind, VendorAnswer][] = [
  ...chatKinds.flatMap((kind): [string, Kind, VendorAnswer][] => [
    [`${kind} with abort`, kind, chatAnswer("abort")],
    [`${kind} with an unknown reason`, kind, chatAnswer("oddity")],
  ]),
  ["gemini with OTHER", "gemini", geminiAnswer("OTHER")],
  ["gemini with an unknown reason", "gemini", geminiAnswer("ODDITY")],
  ["bedrock with malformed_model_output", "bedrock", bedrockAnswer("malformed_model_output")],
  ["bedrock with an unknown reason", "bedrock", bedrockAnswer("oddity")],
];
const overloads: [Kind, VendorAnswer][] = [
  ...chatKinds.map((kind): [Kind, VendorAnswer] => {
    const error = { error: { type: "overloaded_error", message: "Overloaded", code: 529 } };
    const events = sse(chatChunk({ content: "Hello" }), JSON.stringify(error));
    return [kind, { whole: "", events }];
  }),
  [
    "anthropic",
    {
      whole: "",
      events: anthropicAnswer("end_turn").events.replace(
        /event: content_block_stop[^]*/,
        'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
      ),
    },
  ],
];
const complete: Record<Kind, VendorAnswer> = {
  "openai-compatible": chatAnswer("stop"),
  "azure-openai": chatAnswer("stop"),
  anthropic: anthropicAnswer("end_turn"),
  gemini: geminiAnswer("STOP"),
  bedrock: bedrockAnswer("end_turn"),
};

/** Whether the upstream's API is the Responses API, because Azure speaks it. */
const isResponses = (endpoint: Endpoint, kind: Kind) => endpoint === "responses" && kind === "azure-openai";

for (const endpoint of endpoints) {
  for (const stream of [false, true]) {
    const how = `${endpoint}, ${stream ? "streamed" : "whole"}`;

    for (const [name, kind, answer] of matched) {
      test.serial(`${how}: a matched stop sequence of ${name} is reported`, async (t) => {
        const result = await ask(endpoint, kind, stream, answer);
        succeeds(t, result, endpoint, stream);
        if (endpoint !== "messages") return;
        t.regex(result.text, /"stop_reason":"stop_sequence"/);
        t.regex(result.text, /"stop_sequence":"END"/);
      });
    }

    for (const [name, kind, answer] of failures.filter(([, kind]) => !isResponses(endpoint, kind))) {
      test.serial(`${how}: the end of ${name} is an error`, async (t) => {
        const result = await ask(endpoint, kind, stream, answer);
        fails(t, result, endpoint);
        t.is(result.status, stream ? 200 : 502, result.text);
      });
    }

    test.serial(`${how}: a full context ends well`, async (t) => {
      const answer = chatAnswer("model_context_window_exceeded");
      const { status, text, record } = await ask(endpoint, "openai-compatible", stream, answer);
      t.is(status, 200, text);
      t.is(record?.status, "SUCCEEDED");
      if (endpoint === "messages") t.regex(text, /"stop_reason":"max_tokens"/);
      if (endpoint === "responses") t.regex(text, /"reason":"max_output_tokens"/);
    });

    for (const kind of chatKinds.filter((each) => !isResponses(endpoint, each))) {
      test.serial(`${how} × ${kind}: a response without choices is an error with a fallback`, async (t) => {
        const events = sse('{"id":"x","object":"chat.completion.chunk","model":"m","choices":[]}', "[DONE]");
        const empty = { whole: '{"id":"x","object":"chat.completion","model":"m","choices":[]}', events };
        const fallback = await addModel(fallbackUrl, "openai-compatible");
        const diverted = await ask(endpoint, kind, stream, empty, fallback);
        succeeds(t, diverted, endpoint, stream);
        t.regex(diverted.text, /FALLBACK/);
        t.is(diverted.record?.attempts, 2);
        const failed = await ask(endpoint, kind, stream, empty);
        fails(t, failed, endpoint);
        if (!stream) t.is(failed.status, 502);
      });
    }
  }

  for (const [kind, answer] of overloads.filter(([each]) => !isResponses(endpoint, each))) {
    test.serial(`${endpoint} × ${kind}: an overload in mid-stream keeps its type`, async (t) => {
      const result = await ask(endpoint, kind, true, answer);
      t.regex(result.text, /Hello/);
      fails(t, result, endpoint);
      t.regex(result.text, endpoint === "messages" ? /"type":"overloaded_error"/ : /Overloaded/);
    });
  }

  for (const kind of kinds.filter((each) => each !== "bedrock")) {
    test.serial(
      `${endpoint} × ${kind}: a whole stream without its last line or newline ends well`,
      async (t) => {
        const { events } = isResponses(endpoint, kind) ? responsesAnswer("completed") : complete[kind];
        const withoutMark = events.replace(/(data: \[DONE\]|event: message_stop\n.*)\n\n$/, "");
        for (const each of [events, withoutMark]) {
          for (const cut of [0, 1, 2]) {
            const sent = each.slice(0, each.length - cut);
            succeeds(t, await ask(endpoint, kind, true, { whole: "", events: sent }), endpoint, true);
          }
        }
      },
    );
  }
}

for (const stream of [false, true]) {
  const how = `responses × azure-openai, ${stream ? "streamed" : "whole"}`;
  test.serial(`${how}: a failed response is recorded as failed`, async (t) => {
    const error = { code: "server_error", message: "Aborted." };
    const result = await ask("responses", "azure-openai", stream, responsesAnswer("failed", error));
    t.is(result.record?.status, "FAILED", result.text);
    t.regex(result.text, /Aborted/);
  });
}

import test from "ava";
import { createModel } from "../helpers/connect-upstream.ts";
import { nativeRecordings } from "../helpers/native-recordings.ts";
import { frameAwsEvent } from "../helpers/frame-events.ts";
import { isFull } from "../helpers/scale.ts";
import { postTo } from "../helpers/post-chat.ts";
import { createUpstream } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";
import { chatAnswer, sendAnswer } from "../helpers/vendor-answers.ts";

// Upstreams of every kind that report an error, or nothing, inside a response with status 200.
type Sent = { status?: number; type: string; body: string | Buffer; headers?: Record<string, string> };
type Kind = { kind: string; basePath: string; secret: string };

const shared = sharedByFile();
let gateway: TestGateway;
let fallback: string;
let upstreamUrl: string;

const kinds: Kind[] = [
  { kind: "openai-compatible", basePath: "/v1", secret: "openai-secret-0123456789" },
  { kind: "azure-openai", basePath: "/openai/v1", secret: "azure-secret-0123456789" },
  ...nativeRecordings,
];
const bodies = {
  "chat/completions": { messages: [{ role: "user", content: "Hello" }] },
  messages: { max_tokens: 9, messages: [{ role: "user", content: "Hello" }] },
  responses: { input: "Hello", store: false },
};
const json = (body: object): Sent => ({ type: "application/json", body: JSON.stringify(body) });
const event = (kind: string, data: object, awsName: string): Sent => {
  if (kind !== "bedrock") return { type: "text/event-stream", body: `data: ${JSON.stringify(data)}\n\n` };
  const { message } = (data as { error: { message: string } }).error;
  const body = frameAwsEvent(awsName, JSON.stringify({ message }), true);
  return { type: "application/vnd.amazon.eventstream", body };
};

let combination = 0;

/** Every second row, or every one at full scale. The tests take turns, so that together they have all rows. */
function some<Row>(rows: readonly Row[], turn: number, every = 2): Row[] {
  return rows.filter((_, index) => isFull || rows.length === 1 || index % every === turn % every);
}

let send: Sent;
let count = 0;

test.before(async () => {
  gateway = await startTestGateway(shared, { environment: { UPSTREAM_RETRY_PERCENT_MAX: "100" } });
  ({ url: upstreamUrl } = await createUpstream(shared, (_request, response) => {
    const { status = 200, type, body, headers } = send;
    response.writeHead(status, { "content-type": type, ...headers }).end(body);
  }));
  const good = await createUpstream(shared, (request, response) =>
    sendAnswer(request, response, chatAnswer("stop", {}, ["FALLBACK"])),
  );
  fallback = await addTo(
    good.url,
    { kind: "openai-compatible", basePath: "/v1", secret: "x-0123456789" },
    [],
  );
});

async function addTo(url: string, { kind, basePath, secret }: Kind, fallbacks: string[]): Promise<string> {
  const settings = { name: `p${++count}`, kind: kind as "demo", path: basePath, apiKey: secret, fallbacks };
  return (await createModel(gateway, { url }, settings)).model;
}

async function ask(
  endpoint: keyof typeof bodies,
  kind: Kind,
  next: Sent,
  { stream = false, fallbacks = [] }: { stream?: boolean; fallbacks?: string[] } = {},
) {
  send = next;
  const model = await addTo(upstreamUrl, kind, fallbacks);
  const key = await createKey(gateway, [model, ...fallbacks]);
  const headers = { authorization: `Bearer ${key.value}`, "anthropic-version": "2023-06-01" };
  const body = { ...bodies[endpoint], model, stream };
  const answer = await postTo(gateway, `/v1/${endpoint}`, headers, body);
  const [record] = await usageOf(gateway, key.id);
  return { answer, record };
}

for (const kind of kinds) {
  const names = {
    429: ["rate_limit_error", "throttlingException"],
    503: ["service_unavailable", "serviceUnavailableException"],
    529: ["overloaded_error", "overloadedException"],
  };
  for (const endpoint of Object.keys(bodies) as (keyof typeof bodies)[]) {
    for (const stream of [false, true]) {
      const how = `${endpoint} × ${kind.kind}, ${stream ? "streamed" : "whole"}`;
      const isNativeMessages = endpoint === "messages" && kind.kind === "anthropic";
      const turn = combination++;

      test.serial(`${how}: an error inside a 200 is an error of its code`, async (t) => {
        for (const [row, [status, [name, awsName = ""]]] of Object.entries(names).entries()) {
          for (const code of some([Number(status), name], row + turn)) {
            const error = { error: { type: name, message: `No, said ${kind.secret}.`, code } };
            const sent = [json(error)];
            if (stream && !isNativeMessages) sent.push(event(kind.kind, error, awsName));
            if (stream && kind.kind === "anthropic") {
              sent.push({
                type: "text/event-stream",
                body: `event: error\ndata: ${JSON.stringify({ type: "error", ...error })}\n\n`,
              });
            }
            const forms = sent.filter(
              ({ body }) => kind.kind !== "anthropic" || !body.includes('data: {"error'),
            );
            for (const each of some(forms, row)) {
              const diverted = await ask(endpoint, kind, each, { stream, fallbacks: [fallback] });
              t.is(diverted.answer.status, 200, diverted.answer.text);
              t.regex(diverted.answer.text, /FALLBACK/);
              t.like(diverted.record, { status: "SUCCEEDED", attempts: 2 });
              const { answer, record } = await ask(endpoint, kind, each, { stream });
              t.is(answer.status, Number(status), answer.text);
              t.regex(answer.text, /No, said/);
              t.false(answer.text.includes(kind.secret.split(":").at(-1) ?? ""));
              t.like(record, { status: "FAILED", errorReason: "reported_error" });
              if (status === "529") t.regex(answer.text, /"type":"overloaded_error"/);
            }
          }
        }
      });
    }

    test.serial(
      `${endpoint} × ${kind.kind}: the provider's reason and its wait reach the client`,
      async (t) => {
        const place = [{ type: "extra_forbidden", loc: ["body", "x"], msg: "The reason" }];
        const turn = combination++;
        const reasons = [
          { detail: "The reason" },
          { detail: place },
          { object: "error", message: { detail: place } },
          { errors: [{ code: 7000, message: "The reason" }] },
          { errors: ["The reason"] },
          { errors: { x: ["The reason"] } },
          { code: 20015, msg: "The reason" },
          { error: "Bad Request", message: ["The reason"], statusCode: 400 },
          { error: { message: "Provider returned error", metadata: { raw: '{"detail":"The reason"}' } } },
        ];
        for (const body of some(reasons, turn, 3)) {
          const { answer } = await ask(endpoint, kind, { ...json(body), status: 422 });
          t.is(answer.status, 422);
          t.regex(answer.text, /The reason/, JSON.stringify(body));
          const failed = await ask(endpoint, kind, { ...json(body), status: 503 });
          t.regex(failed.answer.text, /returned HTTP status 503: .*The reason/, JSON.stringify(body));
        }
        for (const status of [400, 500]) {
          const text = { type: "text/plain", body: `The reason: ${kind.secret}` };
          const plain = await ask(endpoint, kind, { status, ...text });
          t.regex(plain.answer.text, /The reason: /);
          t.false(plain.answer.text.includes(kind.secret.split(":").at(-1) ?? ""));
          const html = { type: "text/html", body: "<p>The reason" };
          const page = await ask(endpoint, kind, { status, ...html });
          t.notRegex(page.answer.text, /The reason/);
        }

        const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "45.8s" }];
        const body = { error: { code: 429, message: "Quota.", details } };
        const waits: [Sent, RegExp][] = [
          [{ ...json(body), status: 429 }, /^46$/],
          [{ ...json([body]), status: 503 }, /^46$/],
          [{ ...json(body) }, /^46$/],
          [{ ...json({}), status: 500, headers: { "retry-after": "7" } }, /^7$/],
          [{ ...json({}), status: 503, headers: { "retry-after": inAnHour() } }, /^35\d\d$|^3600$/],
        ];
        for (const [sent, pattern] of some(waits, turn)) {
          const { answer } = await ask(endpoint, kind, sent);
          t.regex(answer.headers.get("retry-after") ?? "", pattern, `${sent.status} ${String(sent.body)}`);
        }
      },
    );
  }
}

function inAnHour(): string {
  return new Date(Date.now() + 3_600_000).toUTCString();
}

import { setTimeout as wait } from "node:timers/promises";
import test, { type ExecutionContext } from "ava";
import { TranslatedStream } from "../../gateway/completions/translated-stream.ts";
import { chat } from "../../gateway/dialects/chat/chat.ts";
import type { Dialect } from "../../gateway/dialects/dialect.ts";
import { messages } from "../../gateway/dialects/messages/messages.ts";
import { responses } from "../../gateway/dialects/responses/responses.ts";
import { GatewayError } from "../../gateway/errors.ts";
import { anthropic } from "../../gateway/providers/anthropic/anthropic.ts";
import { bedrock } from "../../gateway/providers/bedrock/bedrock.ts";
import { gemini } from "../../gateway/providers/gemini/gemini.ts";
import { openAiCompatible } from "../../gateway/providers/openai-compatible/openai-compatible.ts";
import type { Provider } from "../../gateway/providers/provider.ts";
import { anySize } from "../helpers/body-limits.ts";
import { callUpstream, createUpstreams } from "../helpers/call-upstream.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { cpuMsSince } from "../helpers/cpu-ms-since.ts";
import { frameAwsEvent } from "../helpers/frame-events.ts";
import { chatBody, postTo } from "../helpers/post-chat.ts";
import { createRawUpstream, type RawConnection } from "../helpers/raw-upstream.ts";
import { figures, isFull } from "../helpers/scale.ts";
import {
  beginStream,
  chunkEvent,
  createUpstream,
  doneEvent,
  usageEvent,
} from "../helpers/scripted-upstream.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { usageOf } from "../helpers/test-gateway.ts";
import { envelope } from "./request-pipelines.ts";

const sharedGateway = shareGateway();
const eventBytesMax = 8 * 1024 * 1024;
const size = isFull ? 7_900_000 : 400_000;

type Kind = {
  provider: Provider;
  baseUrl: string;
  /** Returns an event that contains `values` where the reader looks for text or usage. */
  crowded: Record<string, (values: string) => string>;
  /** An event with a piece of text. */
  text(piece: string): string;
  name: string;
};

const kinds: Kind[] = [
  {
    provider: openAiCompatible,
    baseUrl: "https://upstream.example/v1",
    name: "",
    crowded: {
      choices: (values) => `{"choices":[${values}]}`,
      usage: (values) => `{"choices":[],"usage":{"prompt_tokens":1,"more":[${values}]}}`,
      calls: (values) => `{"choices":[{"index":0,"delta":{"tool_calls":[${values}]}}]}`,
    },
    text: (piece) => `{"choices":[{"index":0,"delta":{"content":"${piece}"}}]}`,
  },
  {
    provider: anthropic,
    baseUrl: "https://upstream.example",
    name: "event",
    crowded: {
      message: (values) => `{"type":"message_start","message":{"content":[${values}]}}`,
      usage: (values) => `{"type":"message_delta","delta":{},"usage":{"more":[${values}]}}`,
    },
    text: (piece) =>
      `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"${piece}"}}`,
  },
  {
    provider: gemini,
    baseUrl: "https://upstream.example",
    name: "",
    crowded: {
      candidates: (values) => `{"candidates":[${values}]}`,
      usage: (values) => `{"usageMetadata":{"more":[${values}]}}`,
    },
    text: (piece) => `{"candidates":[{"index":0,"content":{"parts":[{"text":"${piece}"}]}}]}`,
  },
  {
    provider: bedrock,
    baseUrl: "https://bedrock-runtime.us-east-1.amazonaws.com",
    name: "contentBlockDelta",
    crowded: {
      delta: (values) => `{"contentBlockIndex":0,"delta":{"more":[${values}]}}`,
    },
    text: (piece) => `{"contentBlockIndex":0,"delta":{"text":"${piece}"}}`,
  },
];

const clients: { dialect: Dialect; body: object }[] = [
  { dialect: chat as Dialect, body: { messages: [{ role: "user", content: "Hi" }] } },
  {
    dialect: messages as Dialect,
    body: { max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
  },
  { dialect: responses as Dialect, body: { input: "Hi", store: false } },
];

for (const kind of kinds) {
  for (const { dialect, body } of clients) {
    const subject = `${kind.provider.label} → ${dialect.endpointName}`;
    for (const [where, crowded] of Object.entries(kind.crowded)) {
      test.serial(`${subject}: an event with too many values in its ${where} ends the stream`, (t) => {
        const values = Array(Math.floor(size / 3))
          .fill("{}")
          .join(",");
        const { ending } = relay(t, openStream(kind, dialect, body), frame(kind, crowded(values)));
        t.true(ending instanceof GatewayError);
        t.like(ending, { code: "upstream_error", reason: "answer_too_long" });
      });
    }

    test.serial(`${subject}: a burst of events is translated in turns and in order`, (t) => {
      const events = Array.from({ length: isFull ? 100_000 : 9_000 }, (_, at) => kind.text(`<${at}>`));
      const bytes = Buffer.concat(events.map((event) => frame(kind, event)));
      const { text, turns } = relay(t, openStream(kind, dialect, body), bytes);
      const pieces = [...text.matchAll(/<(\d+)>/g)].map(([, at]) => Number(at));
      t.deepEqual(
        pieces,
        events.map((_, at) => at),
      );
      t.true(turns >= events.length / 5_000, `${turns} turns`);
    });
  }
}

test.serial("a burst of chunks reaches the client whole and in order", async (t) => {
  const count = 9_000;
  const upstream = await createUpstream(t, (_, response) => {
    beginStream(response);
    const burst = Array.from({ length: count }, (_, at) => chunkEvent(`<${at}>`)).join("");
    response.end(burst + usageEvent + doneEvent);
  });
  const gateway = sharedGateway();
  const key = await connectUpstream(gateway, upstream, { name: "burst" });
  const text = await askMessages(gateway.url, key);
  t.deepEqual(
    [...text.matchAll(/<(\d+)>/g)].map(([, at]) => Number(at)),
    Array.from({ length: count }, (_, at) => at),
  );
  t.true(text.includes("event: message_stop"));
  const [record] = await usageOf(gateway, key.id);
  t.like(record, { status: "SUCCEEDED", inputTokens: 5, outputTokens: 2 });
});

test.serial("a burst and its broken connection reach the client in order", async (t) => {
  const upstream = await createUpstream(t, (_, response) => {
    beginStream(response);
    response.write(Array.from({ length: 9_000 }, (_, at) => chunkEvent(`<${at}>`)).join(""), () =>
      response.socket?.end(),
    );
  });
  const gateway = sharedGateway();
  const key = await connectUpstream(gateway, upstream, { name: "broken" });
  const text = await askMessages(gateway.url, key);
  t.true(text.indexOf("<8999>") < text.indexOf("event: error"));
  t.true(text.includes("<8999>"));
  const [record] = await usageOf(gateway, key.id);
  t.is(record?.status, "FAILED");
});

test.serial("an event with too many values is recorded as the upstream's error", async (t) => {
  const upstream = await createUpstream(t, (_, response) => {
    beginStream(response);
    const values = Array(150_000).fill("{}").join(",");
    response.end(`${chunkEvent("Hello")}data: {"choices":[${values}]}\n\n${doneEvent}`);
  });
  const gateway = sharedGateway();
  const key = await connectUpstream(gateway, upstream, { name: "crowded" });
  const text = await askMessages(gateway.url, key);
  t.true(text.includes("Hello") && text.includes("event: error"));
  const [record] = await usageOf(gateway, key.id);
  t.like(record, { status: "FAILED", errorCode: "upstream_error", errorReason: "answer_too_long" });
});

async function askMessages(url: string, { value, model }: { value: string; model: string }): Promise<string> {
  const body = chatBody(model, "Hi", { max_tokens: 100, stream: true });
  return (await postTo({ url }, "/v1/messages", { authorization: `Bearer ${value}` }, body)).text;
}

function openStream({ provider, baseUrl }: Kind, dialect: Dialect, body: object): TranslatedStream {
  const bytes = Buffer.from(JSON.stringify({ model: "test/model", stream: true, ...body }));
  const settings = { baseUrl, secret: "upstream-secret", preset: null };
  const model = { name: "model", outputTokensMax: null };
  const { "chat/completions": translation } = provider.connect(settings).apis(model);
  const writer = dialect.createStreamWriter(envelope, dialect.readRequest(bytes, anySize));
  return new TranslatedStream({
    translation,
    writer,
    estimateInputTokens: () => 1,
    eventBytesMax,
    secret: null,
  });
}

function frame({ provider, name }: Kind, data: string): Buffer {
  if (provider === bedrock) return frameAwsEvent(name, data);
  return Buffer.from(`${name === "" ? "" : `event: ${name}\n`}data: ${data}\n\n`);
}

/** Pushes the bytes as a socket does. Full scale also limits the CPU time of each turn. */
function relay(t: ExecutionContext, stream: TranslatedStream, bytes: Buffer) {
  let text = "";
  let turns = 0;
  const chunkBytes = 64 * 1024;
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const chunk = bytes.subarray(at, at + chunkBytes);
    let piece = timed(t, () => stream.push(chunk));
    while (piece.isPartial) {
      text += piece.bytes.toString();
      turns++;
      piece = timed(t, () => stream.proceed());
    }
    text += piece.bytes.toString();
    if (piece.ending) return { text, turns, ending: piece.ending };
  }
  return { text, turns, ending: null };
}

function timed<Result>(t: ExecutionContext, run: () => Result): Result {
  const before = process.cpuUsage();
  const result = run();
  if (isFull) t.true(cpuMsSince(before) < 200, `${cpuMsSince(before)} ms at a stretch`);
  return result;
}

const answerBytesMax = (isFull ? 64 : 8) * 1024 * 1024;

/** An upper bound for the bytes in the operating system's socket buffers. */
const bufferedBytesMax = 16 * 1024 * 1024;

const longExtension = `1;${"e".repeat(16_000)}\r\nx\r\n`;
const hostileChunks: Record<string, { chunk: string; isAlone: boolean }> = {
  "extensions of 16 KB": { chunk: longExtension, isAlone: false },
  // Small reads come from Node's buffer pool.
  "extensions of 16 KB in a read each": { chunk: longExtension, isAlone: true },
  "one byte each": { chunk: "1\r\nx\r\n".repeat(3_000), isAlone: false },
};

for (const [name, { chunk, isAlone }] of Object.entries(hostileChunks)) {
  for (const contentType of ["application/json", "text/event-stream"]) {
    // Parallel tests would share Node's buffer pool, which would raise `keptBytes`.
    test.serial(`endless chunks with ${name} end a response of ${contentType}`, async (t) => {
      const upstreams = createUpstreams(t, { upstreamAnswerBytesMax: answerBytesMax });
      let sentBytes = 0;
      const { url } = await createRawUpstream(t, ({ socket }) => {
        const send = () => {
          if (isAlone) {
            if (!socket.destroyed) socket.write(chunk, "latin1", () => setImmediate(send));
            sentBytes += chunk.length;
            return;
          }
          while (!socket.destroyed && socket.write(chunk, "latin1")) sentBytes += chunk.length;
        };
        if (!isAlone) socket.on("drain", send);
        socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\ntransfer-encoding: chunked\r\n\r\n`);
        send();
      });
      const memory = new Set<ArrayBufferLike>();
      const { outcome } = callUpstream(upstreams, url, { onData: ({ buffer }) => memory.add(buffer) });
      t.like(await outcome, { status: 200, cause: "EBADANSWER" });
      const { body } = await outcome;
      const keptBytes = [...memory].reduce((sum, { byteLength }) => sum + byteLength, 0);
      t.log(figures(name, { sentBytes, bodyBytes: body.length, keptBytes }));
      t.true(sentBytes < 2 * answerBytesMax + bufferedBytesMax);
      // Each piece of the body keeps its whole backing buffer in memory until the response is complete.
      t.true(keptBytes < 4 * body.length + 1024 * 1024);
    });
  }
}

const rounds = isFull ? 60 : 20;
const answerOf = (body: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

const surplusAfter: Record<string, (connection: RawConnection, answer: string) => void> = {
  "in the same packet": ({ socket }, answer) => socket.write(answer + answerOf("surplus")),
  "a turn later": ({ socket }, answer) => {
    socket.write(answer);
    setImmediate(() => socket.write(answerOf("surplus")));
  },
  ...Object.fromEntries(
    [1, 3, 10].map((delayMs) => [
      `${delayMs} ms later`,
      ({ socket }: RawConnection, answer: string) => {
        socket.write(answer);
        setTimeout(() => socket.write(answerOf("surplus")), delayMs);
      },
    ]),
  ),
};

for (const [delay, send] of Object.entries(surplusAfter)) {
  test(`a surplus response ${delay} reaches no other request`, async (t) => {
    const upstreams = createUpstreams(t);
    const { url } = await createRawUpstream(t, async (connection, request) => {
      const [, path = ""] = /\/(\S+) HTTP/.exec(request) ?? [];
      if (path.startsWith("attacker")) return send(connection, answerOf(path));
      // Like a real model's delay, this wait lets the surplus arrive before the victim's response.
      await wait(20);
      connection.socket.write(answerOf(path));
    });
    const wrong = { surplus: 0, another: 0, failed: 0 };
    const ask = async (path: string, isVictim: boolean) => {
      const { body, error } = await callUpstream(upstreams, `${url}/${path}`).outcome;
      if (!isVictim || (error === null && body === path)) return;
      if (error !== null) wrong.failed++;
      else if (body === "surplus") wrong.surplus++;
      else wrong.another++;
    };
    for (let round = 0; round < rounds; round++) {
      await ask(`attacker${round}`, false);
      await ask(`victim${round}`, true);
    }
    t.log(figures(`of ${rounds} answers`, wrong));
    t.deepEqual(wrong, { surplus: 0, another: 0, failed: 0 });
  });
}

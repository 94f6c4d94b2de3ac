import type { ServerResponse } from "node:http";
import test, { type ExecutionContext } from "ava";
import type { UsageRecordRow } from "../../db/entities/usage-record.ts";
import { createModel } from "../helpers/connect-upstream.ts";
import { hangMs } from "../helpers/eventually.ts";
import { type NativeRecording, nativeRecordings } from "../helpers/native-recordings.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { isFull } from "../helpers/scale.ts";
import { createUpstream } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";
import { type Fault, isSlow, nativeFaults } from "../helpers/upstream-faults.ts";

const shared = sharedByFile();
let gateway: TestGateway;
const scripts = new Map<string, (response: ServerResponse) => void | Promise<void>>();

test.before(async () => {
  gateway = await startTestGateway(shared, {
    environment: { UPSTREAM_EVENT_BYTES_MAX: "65536", UPSTREAM_ANSWER_BYTES_MAX: "65536" },
  });
  for (const { kind, basePath, secret } of nativeRecordings) {
    const upstream = await createUpstream(shared, async ({ body }, response) => {
      const title = /"text":"(?:prompt )?([^"]*: [^"]*)"|"content":"([^"]*: [^"]*)"/.exec(body);
      await scripts.get(title?.[1] ?? title?.[2] ?? "")?.(response);
    });
    for (const [name, timeoutMs] of [
      [kind, hangMs],
      [hurried(kind), 2_000],
    ] as const) {
      await createModel(gateway, upstream, {
        name,
        kind: kind as "demo",
        path: basePath,
        apiKey: secret,
        firstByteTimeoutMs: timeoutMs,
        idleTimeoutMs: timeoutMs,
        totalTimeoutMs: hangMs,
      });
    }
  }
});

for (const [row, recording] of nativeRecordings.entries()) {
  for (const stream of [true, false]) {
    for (const [index, fault] of nativeFaults.entries()) {
      // Below full scale, each fault of a provider is streamed or not.
      if (!isFull && ((index + row) % 2 === 0) !== stream) continue;
      const place = stream ? "stream" : "answer";
      test(`${recording.kind}, ${place}: an upstream that ${fault.what} is handled`, async (t) => {
        const { answer, record } = await ask(t, recording, stream, fault);
        if (fault.error === null) {
          t.is(contentOf(answer.text, stream), stream ? recording.streamText : recording.answerText);
          t.like(record, { status: "SUCCEEDED", httpStatus: 200 });
          return;
        }
        assertFailed(t, answer, fault.error, recording);
        t.is(record?.status, "FAILED");
        t.truthy(record?.errorReason);
      });
    }
  }

  test(`${recording.kind}: an error event mid-stream is an error`, async (t) => {
    const { answer, record } = await ask(t, recording, true, {
      play({ begin, response }) {
        begin();
        response.write(Buffer.concat(recording.events.slice(0, -2)));
        response.end(recording.errorEvent(`Overloaded, ${recording.secret}.`));
      },
    });
    assertFailed(t, answer, { status: 200, code: "upstream_error" }, recording);
    t.regex(answer.text, /Overloaded, /);
    t.like(record, { status: "FAILED", errorReason: "reported_error" });
  });

  for (const count of recording.events.keys()) {
    test(`${recording.kind}: a stream of ${count} events is complete or an error`, async (t) => {
      const { answer, record } = await ask(t, recording, true, {
        play({ begin, response }) {
          begin();
          response.end(Buffer.concat(recording.events.slice(0, count)));
        },
      });
      if (answer.text.endsWith("data: [DONE]\n\n")) {
        t.is(contentOf(answer.text, true), recording.streamText);
        t.regex(answer.text, /"finish_reason":"stop"/);
      } else {
        assertFailed(t, answer, { status: answer.status, code: "upstream_error" }, recording);
        t.is(record?.status, "FAILED");
        t.truthy(record?.errorReason);
      }
    });
  }
}

/** The name of the provider whose timeouts end soon, for upstreams that stall. */
function hurried(kind: string): string {
  return `${kind}-hurried`;
}

async function ask(
  t: ExecutionContext,
  recording: NativeRecording,
  stream: boolean,
  fault: Pick<Fault, "play"> & Partial<Fault>,
): Promise<{
  answer: Awaited<ReturnType<typeof postChat>>;
  record: Pick<UsageRecordRow, "status" | "errorReason"> | undefined;
}> {
  scripts.set(t.title, (response) => {
    const begin = () => {
      const type = stream ? recording.streamContentType : "application/json";
      response.writeHead(200, { "content-type": type, ...fault.headers });
      response.flushHeaders();
    };
    const rest = stream ? Buffer.concat(recording.events) : recording.answer;
    const errorBody = recording.errorBody(`Not now, ${recording.secret}.`);
    return fault.play({ response, stream, rest, begin, errorBody });
  });
  const provider = isSlow(fault) ? hurried(recording.kind) : recording.kind;
  const slug = `${provider}/model`;
  const key = await createKey(gateway, [slug]);
  const answer = await postChat(gateway, key.value, chatBody(slug, t.title, { stream }));
  const [record] = await usageOf(gateway, key.id);
  return { answer, record };
}

function assertFailed(
  t: ExecutionContext,
  { status, text }: { status: number; text: string },
  error: { status: number; code: string | null },
  { secret }: NativeRecording,
): void {
  const isStreamed = text.startsWith("data: ") || text.startsWith(":");
  t.is(status, isStreamed ? 200 : error.status);
  t.notRegex(text, /\[DONE\]/);
  const json = isStreamed ? text.trimEnd().split("\n\n").at(-1)?.replace("data: ", "") : text;
  const body = JSON.parse(json ?? "null") as { error: Record<string, unknown> };
  t.deepEqual(Object.keys(body.error), ["message", "type", "param", "code"]);
  if (error.code !== null) t.is(body.error["code"], error.code);
  for (const part of secret.split(":").slice(-1)) t.false(text.includes(part), "the secret is told");
}

function contentOf(text: string, stream: boolean): string {
  if (!stream)
    return (JSON.parse(text) as { choices: [{ message: { content: string } }] }).choices[0].message.content;
  const events = text.split("\n\n").filter((event) => event.startsWith("data: {"));
  return events
    .map(
      (event) => JSON.parse(event.slice("data: ".length)) as { choices: { delta: { content?: string } }[] },
    )
    .map(({ choices }) => choices[0]?.delta.content ?? "")
    .join("");
}

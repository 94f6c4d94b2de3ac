import type { ServerResponse } from "node:http";
import test, { type ExecutionContext } from "ava";
import { assertErrorBody, serverError } from "../helpers/assert-error.ts";
import { type ClientDialect, clientDialects } from "../helpers/client-dialects.ts";
import { connectUpstream, upstreamSecret } from "../helpers/connect-upstream.ts";
import { type Answer, chatBody, postChat, postTo } from "../helpers/post-chat.ts";
import { createPromptedUpstream, type PromptedUpstream } from "../helpers/prompted-upstream.ts";
import { beginStream, chunkEvent, doneEvent, usageEvent } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

const shared = sharedByFile();
let gateway: TestGateway;
let upstream: PromptedUpstream;
let key: { id: string; value: string };

test.before(async () => {
  upstream = await createPromptedUpstream(shared);
  gateway = await startTestGateway(shared);
  key = await connectUpstream(gateway, upstream, { idleTimeoutMs: 2_000 });
  await connectUpstream(gateway, upstream, { name: "chat", idleTimeoutMs: 2_000 });
  for (const { name, provider } of clientDialects)
    await connectUpstream(gateway, upstream, { name, ...provider, idleTimeoutMs: 2_000 });
});

const begun = chunkEvent("Hel") + chunkEvent("lo");

const endings: [title: string, end: (response: ServerResponse) => void, code: string][] = [
  ["a connection that is reset", (response) => response.socket?.resetAndDestroy(), "upstream_error"],
  ["a connection that is closed", (response) => response.socket?.end(), "upstream_error"],
  ["an end without [DONE]", (response) => response.end(), "upstream_error"],
  ["an end in the middle of an event", (response) => response.end('data: {"choices":['), "upstream_error"],
  ["an end after the usage", (response) => response.end(usageEvent), "upstream_error"],
  ["silence", () => {}, "upstream_timeout"],
  ["garbage", (response) => response.write("data: <html>\n\n"), "upstream_error"],
  [
    "an error event",
    (response) =>
      response.write(`data: {"error":{"message":"Overloaded by ${upstreamSecret}.","code":500}}\n\n`),
    "upstream_error",
  ],
];
for (const [title, end, code] of endings) {
  test(`${title} mid-stream becomes an error event without [DONE]`, async (t) => {
    upstream.scripts.set(title, (response) => {
      beginStream(response);
      response.write(begun, () => end(response));
    });

    const answer = await postChat(gateway, key.value, chatBody("test/model", title, { stream: true }));

    t.is(answer.status, 200);
    const received = begun.replaceAll("upstream-model-2026", "test/model");
    t.true(answer.text.startsWith(received), "what came before is there");
    const events = answer.text.slice(received.length).split("\n\n");
    t.is(events.pop(), "", "the last event is whole");
    const last = events.pop() ?? "";
    const { status: _, ...members } = serverError(200, code);
    assertErrorBody(t, JSON.parse(last.replace(/^data: /, "")), members);
    t.false(answer.text.includes("[DONE]"));
    t.false(answer.text.includes(upstreamSecret), "our own credential is not shown");
  });
}

test("a stream of single bytes arrives complete", async (t) => {
  const prompt = "one byte at a time";
  const stream = begun.replace("lo", "l\\u00f6 ö") + doneEvent;
  upstream.scripts.set(prompt, async (response) => {
    beginStream(response);
    response.socket?.setNoDelay(true);
    for (const byte of Buffer.from(stream)) {
      // Each write waits for the previous write, so that no bytes are joined.
      await new Promise((resolve) => response.write(Buffer.of(byte), resolve));
    }
    response.end();
  });

  const answer = await postChat(gateway, key.value, chatBody("test/model", prompt, { stream: true }));

  t.is(answer.text, stream.replaceAll("upstream-model-2026", "test/model"));
});

// The remaining tests cover the dialects messages and responses.
const upstreamName = "its-own-name-2026";

type Written = {
  begun: string;
  /** The events between `begun` and `end`. */
  rest: string;
  end: string;
  error: string;
  /** Malformed events, each of which must fail the stream. */
  garbage: string[];
};

function writtenByChat(): Written {
  return {
    begun: chunkEvent("Hel") + chunkEvent("lo"),
    rest: chunkEvent("").replace('"finish_reason":null', '"finish_reason":"stop"') + usageEvent,
    end: doneEvent,
    error: `data: {"error":{"message":"Overloaded by ${upstreamSecret}.","code":500}}\n\n`,
    garbage: ["data: <html>\n\n", 'data: {"choices":5}\n\n', "data: [1]\n\n"],
  };
}

function writtenNatively({ events, errorEvent, endEvent }: ClientDialect): Written {
  const all = events(upstreamName);
  return {
    begun: all.slice(0, 5).join(""),
    rest: all.slice(5, -1).join(""),
    end: all.slice(-1).join(""),
    error: errorEvent(`Overloaded by ${upstreamSecret}.`),
    garbage: [
      `event: ${endEvent}\ndata: <html>\n\n`,
      `event: ${endEvent}\ndata: []\n\n`,
      `event: ${endEvent}\ndata: null\n\n`,
      `event: ${endEvent}\ndata: {"type":"${endEvent}"}\n\n`,
    ],
  };
}

const dialectEndings: [title: string, end: (response: ServerResponse, written: Written) => void][] = [
  ["a connection that is reset", (response) => response.socket?.resetAndDestroy()],
  ["a connection that is closed", (response) => response.socket?.end()],
  ["an end in the middle", (response) => response.end()],
  ["an end before the last event", (response, { rest }) => response.end(rest)],
  ["an end within the last event", (response, { rest, end }) => response.end(rest + end.slice(0, -2))],
  ["silence", () => {}],
  ["an error event", (response, { error }) => response.write(error)],
  ["an error event before the end", (response, { error, rest, end }) => response.end(error + rest + end)],
];
for (const at of [0, 1, 2, 3]) {
  dialectEndings.push([`garbage ${at}`, (response, { garbage }) => response.end(garbage[at] ?? garbage[0])]);
}

for (const dialect of clientDialects) {
  for (const isNative of [true, false]) {
    const how = `${dialect.name}, ${isNative ? "native" : "translated"}`;
    const written = isNative ? writtenNatively(dialect) : writtenByChat();
    const model = isNative ? `${dialect.name}/model` : "chat/model";

    const play = async (prompt: string, script: (response: ServerResponse) => void) => {
      upstream.scripts.set(prompt, script);
      const key = await createKey(gateway, [model]);
      const authorization = `Bearer ${key.value}`;
      const body = dialect.body(model, prompt, { stream: true });
      const answer = await postTo(gateway, `/v1/${dialect.name}`, { authorization }, body);
      return { answer, records: await usageOf(gateway, key.id) };
    };

    for (const [title, end] of dialectEndings) {
      // Only OpenAI's responses have their whole answer in the last event.
      const isWhole = title.startsWith("an end ") && title.endsWith("the last event");
      if (isWhole && !(isNative && dialect.name === "responses" && title.includes("before"))) continue;
      test(`${how}: ${title} mid-stream becomes an error event without a regular end`, async (t) => {
        const { answer, records } = await play(t.title, (response) => {
          beginStream(response);
          response.write(written.begun, () => end(response, written));
        });
        t.is(answer.status, 200);
        if (isNative) t.true(answer.text.startsWith(received(written.begun, model)), answer.text);
        else t.regex(answer.text, /Hel[^]*lo/, "what came before is there");
        const message = dialect.assertErrorEnd(t, answer.text);
        t.regex(message, title.startsWith("an error") ? /^Overloaded by / : /provider/);
        t.false(answer.text.includes(dialect.endEvent));
        t.false(answer.text.includes(upstreamSecret), "our own credential is not shown");
        t.like(records, [{ endpoint: dialect.name, status: "FAILED", httpStatus: 200 }]);
      });
    }

    for (const cut of isNative && dialect.name === "responses" ? [2] : [2, written.end.length]) {
      test(`${how}: an answer with its finish reason is complete without the last ${cut} bytes`, async (t) => {
        const whole = written.begun + written.rest + written.end;
        const { answer, records } = await play(t.title, (response) => {
          beginStream(response);
          response.end(whole.slice(0, -cut));
        });
        assertRegularEnd(t, dialect, answer);
        t.like(records, [{ status: "SUCCEEDED", outputTokens: 2 }]);
      });
    }

    test(`${how}: a stream of single bytes arrives complete and ends correctly`, async (t) => {
      const whole = written.begun + written.rest + written.end;
      const { answer, records } = await play(t.title, async (response) => {
        beginStream(response);
        response.socket?.setNoDelay(true);
        for (const byte of Buffer.from(`${whole}: and so on\n\n`)) {
          await new Promise((resolve) => response.write(Buffer.of(byte), resolve));
        }
      });
      if (isNative) t.is(answer.text, received(whole, model));
      else assertRegularEnd(t, dialect, answer);
      t.like(records, [{ status: "SUCCEEDED", outputTokens: 2 }]);
    });
  }

  test(`${dialect.name}, native: line ends and spaces pass unchanged`, async (t) => {
    const events = dialect.events(upstreamName).join("");
    const key = await createKey(gateway, [`${dialect.name}/model`]);
    for (const [index, spelled] of [
      events.replaceAll("\n", "\r\n"),
      events.replaceAll(/^(event|data): /gm, "$1:"),
      events.replaceAll("\n\n", "\n\n: a comment\n\n"),
    ].entries()) {
      const prompt = `${t.title} ${index}`;
      upstream.scripts.set(prompt, (response) => {
        beginStream(response);
        response.end(spelled);
      });
      const body = dialect.body(`${dialect.name}/model`, prompt, { stream: true });
      const authorization = `Bearer ${key.value}`;
      const answer = await postTo(gateway, `/v1/${dialect.name}`, { authorization }, body);
      const expected = received(spelled, `${dialect.name}/model`);
      t.is(answer.text, expected.slice(0, answer.text.length));
      t.true(answer.text.includes(dialect.endEvent));
    }
  });
}

function received(written: string, model: string): string {
  return written.replaceAll(JSON.stringify(upstreamName), JSON.stringify(model));
}

function assertRegularEnd(t: ExecutionContext, { endEvent }: ClientDialect, { text }: Answer): void {
  const names = [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
  t.is(names.filter((name) => name === endEvent).length, 1);
  t.is(names.at(-1), endEvent);
  t.false(names.includes("error"));
}

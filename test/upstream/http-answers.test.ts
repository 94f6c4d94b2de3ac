import test from "ava";
import { AnswerReader } from "../../gateway/upstream/answer-reader.ts";
import { badAnswers } from "../helpers/bad-answers.ts";
import { callUpstream, createUpstreams, defaultHttpLimits } from "../helpers/call-upstream.ts";
import { eventually } from "../helpers/eventually.ts";
import { goodAnswers, type HttpAnswer } from "../helpers/good-answers.ts";
import { createRawUpstream } from "../helpers/raw-upstream.ts";

const httpAnswers = [...goodAnswers, ...badAnswers];

for (const answer of httpAnswers) {
  test(`a response with ${answer.name} is parsed`, async (t) => {
    // With one connection allowed, the second call must reuse it or wait until it closes.
    const upstreams = createUpstreams(t, { upstreamConnectionsMax: 1 });
    const upstream = await createRawUpstream(t, ({ socket }) => {
      socket.write(answer.bytes, "latin1");
      if (answer.closes) socket.end();
    });

    const first = await callUpstream(upstreams, upstream.url).outcome;
    if ("error" in answer.result) {
      t.is(
        first.error,
        `upstream_error: The request to the provider failed: ${answer.result.error}. Retry the request.`,
      );
    } else {
      t.is(first.error, null);
      t.is(first.status, answer.result.status);
      t.is(first.body, answer.result.body);
    }
    t.true(first.wasSent);

    if (!answer.isKept) await eventually(() => upstream.connections[0]?.isClosed);
    const second = await callUpstream(upstreams, upstream.url).outcome;
    t.deepEqual(second, first);
    t.deepEqual(
      upstream.connections.map(({ requests }) => requests.length),
      answer.isKept ? [2] : [1, 1],
    );
  });
}

test("every response yields the same result, wherever it is cut", (t) => {
  let cuts = 0;
  for (const answer of httpAnswers) {
    const bytes = Buffer.from(answer.bytes, "latin1");
    const whole = read(answer, [bytes]);
    if ("error" in answer.result) t.true(whole.problem !== null, answer.name);
    else t.is(whole.body, answer.result.body, answer.name);
    const single = Array.from(bytes, (byte) => Buffer.from([byte]));
    t.deepEqual(read(answer, single), whole, `${answer.name}, byte by byte`);
    for (let at = 0; at <= bytes.length; at += bytes.length > 2_000 ? 37 : 1) {
      cuts++;
      const halves = read(answer, [bytes.subarray(0, at), bytes.subarray(at)]);
      t.deepEqual(halves, whole, `${answer.name}, cut after ${at} bytes`);
    }
  }
  t.log(`${httpAnswers.length} answers, cut in ${cuts} ways`);
});

/** Reads the pieces like a connection, which overwrites the memory of earlier pieces. */
function read({ closes }: HttpAnswer, pieces: Buffer[]) {
  const reader = new AnswerReader(defaultHttpLimits);
  const parts: Buffer[] = [];
  const heads: unknown[] = [];
  let hasSurplus = false;
  for (const piece of pieces) {
    if (reader.problem) break;
    // Bytes after a complete response make the gateway close the connection.
    if (reader.isComplete) {
      hasSurplus ||= piece.length > 0;
      continue;
    }
    const lent = Buffer.from(piece);
    parts.push(reader.push(lent));
    lent.fill("?");
    const head = reader.takeHead();
    if (head) heads.push({ ...head, headers: { ...head.headers } });
  }
  if (closes && !reader.problem && !reader.isComplete) reader.end();
  const { isComplete, problem, keepAliveMs } = reader;
  return {
    heads,
    body: Buffer.concat(parts).toString("latin1"),
    isComplete,
    problem: problem && (problem as NodeJS.ErrnoException).code,
    keepAliveMs: hasSurplus ? 0 : keepAliveMs,
  };
}

import { request as httpRequest } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import test from "ava";
import { AnswerReader } from "../../gateway/upstream/answer-reader.ts";
import { badAnswers } from "../helpers/bad-answers.ts";
import { callUpstream, createUpstreams, defaultHttpLimits } from "../helpers/call-upstream.ts";
import { eventually } from "../helpers/eventually.ts";
import { goodAnswers, type HttpAnswer } from "../helpers/good-answers.ts";
import { createRawUpstream } from "../helpers/raw-upstream.ts";
import { cutAnywhere, type SeededRandom, seededRandom } from "../helpers/seeded-random.ts";

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

const seed = Number(process.env["TEST_SEED"] ?? 20_260_101);
const answers = 1_000;
const atOnce = 10;

const faults = ["cut off", "reset", "changed bytes", "surplus"] as const;

type Plan = {
  pieces: Buffer[];
  fault: (typeof faults)[number] | null;
  closes: boolean;
  /** The result without the fault. */
  meant: Result;
};

/** A client's result. Null for an error. */
type Result = { status: number; body: string } | null;

function makePlan(random: SeededRandom): Plan {
  const status = random.pick([200, 200, 200, 201, 204, 304, 400, 429, 500, 503]);
  const hasBody = status !== 204 && status !== 304;
  const bodyBytes = hasBody ? random.upTo(random.pick([5, 60, 3_000, 90_000])) : 0;
  const body = "a\r\n0;é".repeat(bodyBytes).slice(0, bodyBytes);
  const framing = random.pick(["length", "chunks", "close"]);
  const fields = ["content-type: x", "x-id: abc", "set-cookie: a=b", "set-cookie: c", "x-empty:"];
  const lines = fields.slice(0, random.upTo(fields.length));
  if (framing === "length" && status !== 204) lines.unshift(`Content-Length: ${body.length}`);
  if (framing === "chunks" && status !== 204) lines.push("Transfer-Encoding: chunked");
  if (random.chance(0.2)) lines.push("Connection: close");
  const drawn = random.chance(0.4) ? null : random.pick(faults);
  const interim = random.chance(0.1) ? "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n" : "";
  const head = `${interim}HTTP/1.1 ${status} Some words\r\n${lines.map((line) => `${line}\r\n`).join("")}\r\n`;
  const whole = Buffer.from(
    head + (hasBody && framing === "chunks" ? inChunks(body, drawn, random) : body),
    "latin1",
  );
  const endsWithConnection = hasBody && framing === "close";
  // Without framing, extra bytes are part of the body, so they cannot be a fault.
  const fault = drawn === "surplus" && endsWithConnection ? null : drawn;
  const bytes = spoil(whole, fault, random);
  // A large response gets larger pieces, because each piece costs a turn of the event loop.
  const pieceBytesMax = Math.max(random.pick([1, 7, 100, 20_000, 200_000]), Math.ceil(bytes.length / 300));
  return {
    pieces: cutAnywhere(bytes, random, pieceBytesMax),
    fault,
    closes: fault !== null || endsWithConnection || random.chance(0.1),
    meant: { status, body },
  };
}

function inChunks(body: string, fault: Plan["fault"], random: SeededRandom): string {
  // Node rejects damaged chunk extensions, but the gateway skips them.
  const extension = fault !== "changed bytes" && random.chance(0.2) ? ";a=b" : "";
  const trailers = random.chance(0.2) ? "x-sum: 1\r\nx-more: 2\r\n" : "";
  let chunks = "";
  for (let at = 0; at < body.length;) {
    const piece = body.slice(at, at + 1 + random.upTo(random.pick([3, 100, 40_000])));
    const size = piece.length.toString(16);
    chunks += `${random.chance(0.5) ? size.toUpperCase() : size}${extension}\r\n${piece}\r\n`;
    at += piece.length;
  }
  return `${chunks}0${extension}\r\n${trailers}\r\n`;
}

function spoil(whole: Buffer, fault: Plan["fault"], random: SeededRandom): Buffer {
  switch (fault) {
    case null:
      return whole;
    case "cut off":
    case "reset":
      return whole.subarray(0, random.upTo(whole.length - 1));
    case "surplus":
      return Buffer.concat([whole, Buffer.from(random.pick(["\r\n", "x", "HTTP/1.1 200 OK\r\n\r\n"]))]);
    case "changed bytes": {
      const changed = Buffer.from(whole);
      // Most changes should affect the head.
      const limit = random.chance(0.7) ? Math.min(whole.length, 200) : whole.length;
      for (let left = random.upTo(2); left >= 0; left--) {
        changed[random.upTo(limit - 1)] = random.pick([10, 13, 32, 44, 48, 57, 58, 65, 0, random.upTo(255)]);
      }
      return changed;
    }
  }
}

function askNode(url: string): Promise<Result> {
  return new Promise((resolve) => {
    const request = httpRequest(url, { method: "POST", agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", () => resolve(null));
      response.on("close", () => {
        const body = Buffer.concat(chunks).toString("latin1");
        resolve(response.complete ? { status: response.statusCode ?? 0, body } : null);
      });
    });
    request.on("error", () => resolve(null));
    request.on("upgrade", (_response, socket) => {
      socket.destroy();
      resolve(null);
    });
    request.end("{}");
  });
}

test(`${answers} randomly damaged responses are parsed as by Node's client`, async (t) => {
  const random = seededRandom(seed);
  const plans = Array.from({ length: answers }, () => makePlan(random));
  const upstreams = createUpstreams(t, { upstreamConnectionsMax: 5 });
  const { url, connections } = await createRawUpstream(t, async ({ socket }, request) => {
    const plan = plans[Number(/\/(\d+)/.exec(request)?.[1])];
    for (const piece of plan?.pieces ?? []) {
      if (socket.destroyed) return;
      socket.write(piece);
      await nextTurn();
    }
    if (plan?.fault === "reset") socket.resetAndDestroy();
    else if (plan?.closes) socket.end();
  });
  const figures = { fine: 0, broken: 0, stricter: 0 };

  const compare = async ({ pieces, fault, meant }: Plan, index: number) => {
    const theirs = await askNode(`${url}/${index}`);
    const { error, status, body } = await callUpstream(upstreams, `${url}/${index}`).outcome;
    const ours: Result = error === null ? { status, body } : null;
    figures[ours ? "fine" : "broken"]++;
    const what = `seed ${seed}, answer ${index}, ${fault}: ${Buffer.concat(pieces).toString("latin1").slice(0, 300)}`;
    if (fault === null || fault === "surplus") t.deepEqual(ours, meant, what);
    // Node fails if a surplus arrives with the response. A smaller length turns the rest of the body into a surplus.
    const hasSurplus = fault === "changed bytes" && ours && meant && ours.body.length < meant.body.length;
    if ((fault === "surplus" || hasSurplus) && theirs === null) return;
    // A reset may overtake earlier data for either client.
    if (fault === "reset" && (ours === null || theirs === null)) return;
    // The gateway's client may reject changed bytes that Node accepts, but not the reverse.
    if (fault === "changed bytes" && ours === null && theirs !== null) figures.stricter++;
    else t.deepEqual(ours, theirs, what);
  };
  let next = 0;
  const compareMany = async () => {
    for (let plan = plans[next]; plan; plan = plans[next]) await compare(plan, next++);
  };
  await Promise.all(Array.from({ length: atOnce }, compareMany));
  t.log(
    `seed ${seed}: ${figures.fine} fine, ${figures.broken} broken (${figures.stricter} only for us), ` +
      `${connections.length - answers} connections of ours`,
  );
});

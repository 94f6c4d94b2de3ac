import { request as httpRequest } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import test from "ava";
import { callUpstream, createUpstreams } from "../helpers/call-upstream.ts";
import { createRawUpstream } from "../helpers/raw-upstream.ts";
import { cutAnywhere, type SeededRandom, seededRandom } from "../helpers/seeded-random.ts";

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

import test, { type ExecutionContext } from "ava";
import { readConfig } from "../../gateway/config/config.ts";
import { countValues, scanMembers } from "../../gateway/wire/json.ts";
import { measureText } from "../../gateway/wire/long-texts.ts";
import { cannedUpstreams, createCannedUpstream } from "../bench/canned-upstreams.ts";
import { type MeasuredProcess, startProcess } from "../bench/measured-process.ts";
import { setUpGateway } from "../bench/set-up-gateway.ts";
import { bodyLimits } from "../helpers/body-limits.ts";
import { figures, isFull } from "../helpers/scale.ts";
import { postTo } from "../helpers/post-chat.ts";
import { openSocket } from "../helpers/responses-socket.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import type { DialectName } from "./request-pipelines.ts";
import { chatShapes } from "./shapes/chat-shapes.ts";
import { embeddingsShapes } from "./shapes/embeddings-shapes.ts";
import { longTextShapes } from "./shapes/long-text-shapes.ts";
import { messagesShapes } from "./shapes/messages-shapes.ts";
import { responsesShapes } from "./shapes/responses-shapes.ts";
import { countFor, type Shape, toBytes } from "./shapes/shape.ts";
import { structureShapes } from "./shapes/structure-shapes.ts";
import type { WatchedGateway } from "./watched-gateway.ts";

const limits = { ...bodyLimits, requestBodyBytesMax: readConfig({}).limits.requestBodyBytesMax };
const paths: Record<DialectName, string> = {
  chat: "/v1/chat/completions",
  messages: "/v1/messages",
  count_tokens: "/v1/messages/count_tokens",
  responses: "/v1/responses",
  embeddings: "/v1/embeddings",
};

const worstShapes = [...structureShapes, ...longTextShapes];
const otherShapes = [...chatShapes, ...messagesShapes, ...responsesShapes, ...embeddingsShapes];
const slugs = cannedUpstreams.flatMap(({ kind, slug }) => (kind === "azure-openai" ? [] : [slug]));

/** Below full scale, a small sample of shapes is tested, each with one kind of provider. */
const pairs = isFull
  ? [...worstShapes, ...otherShapes.filter((_, place) => place % 3 === 0)].map((shape) => ({ shape, slugs }))
  : [...structureShapes, ...otherShapes]
      .filter((_, place) => place % 34 === 6)
      .map((shape, place) => ({ shape, slugs: slugs.slice(place % 4, (place % 4) + 1) }));

/** Other processes slow down some attempts, but not all. */
const triesMax = 10;

/** On a slow machine, as long as `JSON.parse` alone needs for three bodies of the largest size. */
const blockMsMax = Math.max(200, 3 * largestParseMs());

function largestParseMs(): number {
  const bytes = Buffer.from(JSON.stringify({ a: "iVBORw0K".repeat(limits.requestBodyBytesMax / 8) }));
  const times = Array.from({ length: 5 }, () => {
    const start = performance.now();
    JSON.parse(bytes.toString());
    return performance.now() - start;
  });
  return Math.min(...times);
}

const shared = sharedByFile();
let gateway: MeasuredProcess<WatchedGateway>;
let target: { url: string; key: string };

test.before(async () => {
  gateway = startProcess<WatchedGateway>("../attack/watched-gateway.ts", nodeFlags);
  shared.teardown(() => gateway.stop());
  const { port: upstreamPort } = await createCannedUpstream(shared);
  const { url, setUpToken } = await gateway.ask("start", upstreamPort);
  const { free: key } = await setUpGateway(url, setUpToken ?? "", upstreamPort);
  target = { url, key };
  // The first requests also load code, so their blocks do not count.
  for (const shape of otherShapes.filter(({ name }) => name === "tools")) {
    for (const slug of slugs) await measureBlock(shape, slug, toBytes(shape.body(10)), 0);
  }
});

test.serial("an accepted body does not block the event loop for 200 ms", (t) =>
  checkBlocks(t, { blockMsMax, count: largestCount }),
);

test.serial("an oversized body does not block the event loop for 200 ms", (t) =>
  checkBlocks(t, { blockMsMax, count: (shape) => countFor(shape, 31 * 1024 * 1024) }),
);

test.serial("a body of 1,000 bytes does not block the event loop for 20 ms", (t) =>
  checkBlocks(t, { blockMsMax: 20, count: (shape) => countFor(shape, 1_000) }),
);

test.serial("a body of brackets at the size limit does not block the event loop for 500 ms", async (t) => {
  // `JSON.parse` alone takes more than a second to reject this body.
  const body = Buffer.alloc(16 * 1024 * 1024, "[");
  const { blockMs, status } = await measureBodyBlock("chat", body, 500);
  t.is(status, 400);
  t.true(blockMs < 500, `${blockMs.toFixed()} ms`);
});

function largestCount(shape: Shape): number {
  const { requestTextBytesMax, requestJsonValuesMax } = limits;
  const counts = [
    countFor(shape, 0.99 * limits.requestBodyBytesMax),
    countFor(shape, 0.97 * requestTextBytesMax, (bytes) => measureText(bytes, Infinity)),
    countFor(shape, 0.97 * requestJsonValuesMax, countValuesIn),
  ];
  return Math.min(...counts);
}

function countValuesIn(bytes: Buffer): number {
  const count = countValues(Infinity);
  scanMembers(bytes, 0, bytes.length, Infinity, () => {}, count);
  return count.tenths / 10;
}

async function checkBlocks(
  t: ExecutionContext,
  { blockMsMax, count }: { blockMsMax: number; count: (shape: Shape) => number },
): Promise<void> {
  t.timeout(900_000);
  const slow: string[] = [];
  const statuses = new Map<number, number>();
  let worstMs = 0;
  for (const { shape, slugs } of pairs) {
    const bytes = toBytes(shape.body(count(shape)));
    for (const slug of slugs) {
      const { blockMs, status } = await measureBlock(shape, slug, bytes, blockMsMax);
      worstMs = Math.max(worstMs, blockMs);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (blockMs >= blockMsMax) {
        slow.push(`${shape.name}, ${slug}: ${blockMs.toFixed()} ms for ${bytes.length} bytes, ${status}`);
      }
    }
  }
  t.log(
    figures("event loop", {
      worstMs: worstMs.toFixed(),
      maxMs: blockMsMax.toFixed(),
      ...Object.fromEntries(statuses),
    }),
  );
  t.deepEqual(slow, []);
  const failures = [...statuses.keys()].filter((status) => status >= 500);
  t.deepEqual(failures, []);
}

/** The same bodies as frames of a WebSocket. */
const frameShapes = [
  ...structureShapes,
  ...longTextShapes,
  ...responsesShapes.filter((_, place) => place % 3 === 0),
].filter((_, place) => isFull || place % 12 === 1);

for (const [title, count] of [
  ["an accepted frame", largestCount],
  ["an oversized frame", (shape: Shape) => countFor(shape, 31 * 1024 * 1024)],
] as const) {
  test.serial(`${title} does not block the event loop for 200 ms`, async (t) => {
    t.timeout(900_000);
    const slow: string[] = [];
    let worstMs = 0;
    for (const shape of frameShapes) {
      const bytes = toFrame(toBytes(shape.body(count(shape))));
      for (const slug of isFull ? slugs : slugs.slice(0, 1)) {
        const { blockMs, status } = await measureFrame(t, withModel(bytes, slug));
        worstMs = Math.max(worstMs, blockMs);
        t.not(status, 500, shape.name);
        if (blockMs >= blockMsMax) {
          slow.push(`${shape.name}, ${slug}: ${blockMs.toFixed()} ms for ${bytes.length} bytes, ${status}`);
        }
      }
    }
    t.log(figures("frames", { worstMs: worstMs.toFixed(), maxMs: blockMsMax.toFixed() }));
    t.deepEqual(slow, []);
  });
}

/** The bodies of other dialects have `messages` instead of `input`. */
function toFrame(body: Buffer): Buffer {
  const text = body.toString("latin1");
  const renamed = /^\{\s*"model"\s*:\s*"test\/model"\s*,\s*"messages"/.test(text)
    ? text.replace('"messages"', '"input"')
    : text;
  return Buffer.from(renamed.replace("{", '{"type":"response.create",'), "latin1");
}

async function measureFrame(
  t: ExecutionContext,
  frame: Buffer,
): Promise<{ blockMs: number; status: number }> {
  let blockMs = Infinity;
  let status = 0;
  for (let tries = 0; tries < triesMax && blockMs >= blockMsMax; tries++) {
    const socket = await openSocket(t, target, target.key);
    await gateway.ask("startWatch");
    socket.socket.send(frame, { binary: false });
    // A frame beyond the limit of a body closes the connection.
    const last = await socket
      .until(() => socket.frames.find(({ type }) => lastTypes.has(type)))
      .catch(() => null);
    blockMs = Math.min(blockMs, await gateway.ask("stopWatch"));
    status = last ? (last.status ?? 200) : 413;
    socket.socket.terminate();
  }
  return { blockMs, status };
}

const lastTypes = new Set(["response.completed", "response.incomplete", "response.failed", "error"]);

function measureBlock(
  { dialects: [dialect = "chat"] }: Shape,
  slug: string,
  bytes: Buffer,
  enoughMs: number,
): Promise<{ blockMs: number; status: number }> {
  return measureBodyBlock(dialect, withModel(bytes, slug), enoughMs);
}

async function measureBodyBlock(
  dialect: DialectName,
  body: Buffer,
  enoughMs: number,
): Promise<{ blockMs: number; status: number }> {
  const headers = { authorization: `Bearer ${target.key}` };
  let blockMs = Infinity;
  let status = 0;
  for (let tries = 0; tries < triesMax && blockMs >= enoughMs; tries++) {
    await gateway.ask("startWatch");
    ({ status } = await postTo(target, paths[dialect], headers, body));
    blockMs = Math.min(blockMs, await gateway.ask("stopWatch"));
  }
  return { blockMs, status };
}

function withModel(bytes: Buffer, slug: string): Buffer {
  const at = bytes.indexOf(modelInShapes);
  const model = Buffer.from(JSON.stringify(slug));
  return Buffer.concat([bytes.subarray(0, at), model, bytes.subarray(at + modelInShapes.length)]);
}

const modelInShapes = '"test/model"';
const nodeFlags = ["--max-semi-space-size=16", "--no-allocation-site-pretenuring"];

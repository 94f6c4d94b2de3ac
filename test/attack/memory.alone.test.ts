import type { Socket } from "node:net";
import { brotliCompressSync, constants, zstdCompressSync } from "node:zlib";
import test, { type ExecutionContext } from "ava";
import type { Stage } from "../chaos/stage.ts";
import { eventually } from "../helpers/eventually.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { figures, isFull } from "../helpers/scale.ts";
import { createUpstream, type ScriptedUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { openSocket } from "../helpers/send-raw.ts";
import { memoryOf, startWithSmallHeap, write } from "./small-heap.ts";

const megabyte = 1024 * 1024;
const plan = isFull
  ? { strangers: 14, strangersBytes: 6 * megabyte, unfinished: 150, keysBytes: 60 * megabyte }
  : { strangers: 4, strangersBytes: 4 * megabyte, unfinished: 80, keysBytes: 12 * megabyte };

type Hostile = { stage: Stage; upstream: ScriptedUpstream; otherKey: string };

function attack(title: string, growthMbMax: number, run: (hostile: Hostile) => Promise<void>): void {
  test.serial(title, async (t) => {
    const hostile = await start(t);
    const { stage } = hostile;
    const before = memoryOf(stage, "VmRSS");
    await run(hostile);
    const answer = await postChat(stage, hostile.otherKey, chatBody(stage.model, "quick"));
    t.is(answer.status, 200, "another key is answered");
    t.is((await fetch(`${stage.url}/healthz`)).status, 200);
    t.is(stage.gateway().child.exitCode, null, stage.gateway().stderr());
    const growthMb = Math.round(memoryOf(stage, "VmHWM") - before);
    t.log(figures(title, { beforeMb: Math.round(before), growthMb, growthMbMax }));
    t.true(growthMb <= growthMbMax, `resident memory grew by ${growthMb} MB`);
  });
}

attack("one-byte chunks of strangers to /trpc take little memory", 280, async ({ stage }) => {
  const sockets = await openMany(stage, plan.strangers);
  await Promise.all(
    sockets.map((socket) => sendOneByteChunks(socket, "/trpc/auth.signIn", plan.strangersBytes)),
  );
});

attack("one-byte chunks of a key take little memory", 280, async ({ stage }) => {
  const [socket] = await openMany(stage, 1);
  const authorization = `authorization: Bearer ${stage.key}\r\n`;
  if (socket) await sendOneByteChunks(socket, "/v1/chat/completions", plan.keysBytes, authorization);
});

attack("unfinished bodies of one key are bounded together", 420, async ({ stage }) => {
  const sockets = await openMany(stage, plan.unfinished);
  const head = `authorization: Bearer ${stage.key}\r\ncontent-length: ${8 * megabyte}\r\n`;
  await Promise.all(
    sockets.map((socket) =>
      write(socket.resume(), `${startOf("/v1/chat/completions")}${head}\r\n${"a".repeat(8 * megabyte - 1)}`),
    ),
  );
});

attack("eight large bodies held by an upstream leave the process alive", 600, async (hostile) => {
  const { stage, upstream } = hostile;
  const content = "x".repeat(32 * megabyte - 200);
  const body = JSON.stringify(chatBody(stage.model, `hold ${content}`));
  const sockets = await openMany(stage, 8);
  let refused = 0;
  for (const socket of sockets) {
    socket.on("data", (bytes) => {
      if (bytes.toString("latin1").startsWith("HTTP/1.1 503")) refused++;
    });
    const head = `authorization: Bearer ${stage.key}\r\ncontent-length: ${body.length}\r\n`;
    socket.write(`${startOf("/v1/chat/completions")}${head}\r\n${body}`);
  }
  await eventually(() => refused + upstream.requests.length === 8);
});

attack("compressed bodies that expand to 256 MB take little memory", 60, async ({ stage }) => {
  const expanded = Buffer.alloc(256 * megabyte, " ");
  const bombs = { zstd: zstdCompressSync(expanded), br: brotliCompressSync(expanded, fastBrotli) };
  for (const [encoding, body] of Object.entries(bombs)) {
    const headers = { authorization: `Bearer ${stage.key}`, "content-encoding": encoding };
    const answer = await fetch(`${stage.url}/v1/chat/completions`, { method: "POST", headers, body });
    await answer.body?.cancel();
    if (answer.status !== 413) throw new Error(`${encoding} got ${answer.status}`);
  }
});

const fastBrotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

async function start(t: ExecutionContext): Promise<Hostile> {
  const upstream = await createUpstream(t, ({ body }, response) => {
    if (!body.includes('"hold ')) sendCompletion(response);
  });
  const stage = await startWithSmallHeap(t, upstream);
  const { value } = await stage.console.keys.create.mutate({ name: "Other", models: [stage.model] });
  return { stage, upstream, otherKey: value };
}

async function openMany(stage: Stage, count: number): Promise<Socket[]> {
  return Promise.all(Array.from({ length: count }, () => openSocket(stage.url)));
}

async function sendOneByteChunks(socket: Socket, path: string, bytes: number, head = ""): Promise<void> {
  socket.resume();
  const start = `${startOf(path)}${head}transfer-encoding: chunked\r\n\r\n`;
  const piece = "1\r\na\r\n".repeat(10_000);
  await write(socket, start);
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += piece.length) await write(socket, piece);
}

function startOf(path: string): string {
  return `POST ${path} HTTP/1.1\r\nhost: gateway\r\ncontent-type: application/json\r\n`;
}

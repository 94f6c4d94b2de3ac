import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from "node:zlib";
import test, { type ExecutionContext } from "ava";
import type { Stage } from "../chaos/stage.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { figures, isFull } from "../helpers/scale.ts";
import { createUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { openSocket } from "../helpers/send-raw.ts";
import { memoryOf, startWithSmallHeap, write } from "./small-heap.ts";

/** Each needs a minute or more, so they are part of the full run only. */
const measured = isFull ? test.serial : test.serial.skip;
const connections = 100;
const growthMbMax = 220;
const expanded = Buffer.alloc(32 * 1024 * 1024, " ");
const brotliOf = (window: number) =>
  brotliCompressSync(expanded, { params: { [constants.BROTLI_PARAM_LGWIN]: window } });

/** The compressed bodies expand to 32 MB, with the largest window that the gateway accepts or a larger one. */
const bodies: Record<string, { encoding: string; bytes: Buffer }> = {
  identity: { encoding: "identity", bytes: Buffer.alloc(isFull ? 64 * 1024 : 8 * 1024, " ") },
  gzip: {
    encoding: "gzip",
    bytes: gzipSync(expanded.subarray(0, isFull ? expanded.length : 8 * 1024 * 1024)),
  },
  "br with a window of 4 MB": { encoding: "br", bytes: brotliOf(22) },
  "br with a window of 16 MB": { encoding: "br", bytes: brotliOf(24) },
  zstd: { encoding: "zstd", bytes: zstdCompressSync(expanded) },
};

type Person = { key: string; accessToken: string };
type Hostile = { stage: Stage; members: Person[]; baseMb: number };

/** Each one sends `bytes` in one-byte pieces, the last of which all connections send at the same time. */
type Receiver = (hostile: Hostile, body: { encoding: string; bytes: Buffer }) => Promise<Set<string>>;

const http =
  (path: string, accessOf: (person: Person) => string | null): Receiver =>
  async ({ stage, members }, { encoding, bytes }) => {
    const head = (access: string | null) =>
      [
        `POST ${path} HTTP/1.1`,
        "host: gateway",
        "content-type: application/json",
        ...(encoding === "identity" ? [] : [`content-encoding: ${encoding}`]),
        ...(access === null ? [] : [`authorization: Bearer ${access}`]),
        "transfer-encoding: chunked",
      ].join("\r\n");
    return sendTogether(stage, (index) => {
      const access = accessOf(members[index % members.length] ?? never());
      return { start: `${head(access)}\r\n\r\n`, pieces: piecesOf(bytes, chunkOf), end: "0\r\n\r\n" };
    });
  };

const webSocket: Receiver = async ({ stage, members }, { bytes }) =>
  sendTogether(stage, (index) => {
    const { key } = members[index % members.length] ?? never();
    const start = [
      "GET /v1/responses HTTP/1.1",
      "host: gateway",
      `authorization: Bearer ${key}`,
      "connection: Upgrade",
      "upgrade: websocket",
      "sec-websocket-version: 13",
      "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
    ].join("\r\n");
    const pieces = piecesOf(bytes, (byte, at) => frameOf(at === 0 ? 0x02 : 0x00, byte));
    return { start: `${start}\r\n\r\n`, pieces, end: frameOf(0x80) };
  });

const receivers: Record<string, Receiver> = {
  "/v1/messages": http("/v1/messages", ({ key }) => key),
  "/v1/responses": http("/v1/responses", ({ key }) => key),
  "/trpc of a stranger": http("/trpc/auth.signIn", () => null),
  "/trpc of a member": http("/trpc/keys.create", ({ accessToken }) => accessToken),
  "/graphql of a member": http("/graphql", ({ accessToken }) => accessToken),
  WebSocket: webSocket,
};

for (const [path, send] of Object.entries(receivers)) {
  measured(`${connections} connections to ${path} take little memory in each encoding`, async (t) => {
    const { hostile, victim } = await start(t, isFull ? 2 : 1);
    const { stage, baseMb } = hostile;
    for (const [bodyName, body] of Object.entries(bodies)) {
      const answers = await send(hostile, body);
      const answer = await postChat(stage, victim.key, chatBody(stage.model));
      const title = `${path}, ${bodyName}`;
      t.is(stage.gateway().child.exitCode, null, stage.gateway().stderr());
      t.is(answer.status, 200, `${title}: another person's key is answered`);
      const growthMb = Math.round(memoryOf(stage, "VmHWM") - baseMb);
      t.log(figures(title, { growthMb, answers: [...answers].join(" ") }));
      t.true(growthMb < growthMbMax, `${title}: resident memory grew by ${growthMb} MB`);
    }
  });
}

measured("300 WebSockets with one-byte fragments take little memory", async (t) => {
  const { hostile, victim } = await start(t, 1);
  const { stage, baseMb } = hostile;
  const body = { encoding: "identity", bytes: Buffer.alloc(16_000, " ") };
  const answers = await Promise.all([1, 2, 3].map(() => webSocket(hostile, body)));
  t.is((await postChat(stage, victim.key, chatBody(stage.model))).status, 200);
  t.is(stage.gateway().child.exitCode, null, stage.gateway().stderr());
  const growthMb = Math.round(memoryOf(stage, "VmHWM") - baseMb);
  t.log(figures("300 WebSockets", { growthMb, answers: [...(answers[0] ?? [])].join(" ") }));
  t.true(growthMb < growthMbMax, `resident memory grew by ${growthMb} MB`);
});

type Sending = { start: string; pieces: Buffer; end: string | Buffer };

/** Returns the first lines of the answers, or what came instead. */
async function sendTogether(stage: Stage, sendingOf: (index: number) => Sending): Promise<Set<string>> {
  const answers = new Set<string>();
  const all = await Promise.all(
    Array.from({ length: connections }, async (_, index) => {
      const socket = (await openSocket(stage.url)).setNoDelay(true);
      const answered = Promise.withResolvers<void>();
      const { start, pieces, end } = sendingOf(index);
      const isUpgrade = start.startsWith("GET");
      let received = "";
      socket.on("data", (bytes: Buffer) => {
        received = (received + bytes.toString("latin1")).slice(0, 20_000);
        // After the handshake, a WebSocket answers with a close frame or an error.
        if (!isUpgrade || !received.endsWith("\r\n\r\n") || !received.startsWith("HTTP/1.1 101"))
          answered.resolve();
      });
      socket.on("close", () => answered.resolve());
      socket.write(start);
      // Most clients wait for the handshake, but none must.
      for (let at = 0; at < pieces.length && !socket.destroyed; at += 20_000)
        await write(socket, pieces.subarray(at, at + 20_000));
      return {
        socket,
        end,
        answered: answered.promise,
        result: () => /^HTTP\/1.1 (\d+)/.exec(received)?.[1] ?? "none",
      };
    }),
  );
  for (const { socket, end } of all) socket.write(end);
  await Promise.all(all.map(({ answered }) => answered));
  for (const { socket, result } of all) {
    answers.add(result());
    socket.destroy();
  }
  return answers;
}

function piecesOf(bytes: Buffer, pieceOf: (byte: Buffer, at: number) => Buffer): Buffer {
  return Buffer.concat(Array.from(bytes, (_, at) => pieceOf(bytes.subarray(at, at + 1), at)));
}

const chunkOf = (byte: Buffer) => Buffer.concat([Buffer.from("1\r\n"), byte, Buffer.from("\r\n")]);

/** A masked frame, with a mask of zeros. */
function frameOf(firstByte: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([Buffer.from([firstByte, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}

async function start(t: ExecutionContext, attackers: number) {
  const upstream = await createUpstream(t, (_, response) => sendCompletion(response));
  const stage = await startWithSmallHeap(t, upstream);
  const members: Person[] = [];
  for (let index = 0; index < attackers; index++) members.push(await addMember(stage, `m${index}`));
  const victim = await addMember(stage, "victim");
  await Promise.all(members.map(({ key }) => postChat(stage, key, chatBody(stage.model))));
  const hostile: Hostile = { stage, members, baseMb: memoryOf(stage, "VmRSS") };
  return { hostile, victim };
}

async function addMember({ url, console: admin, model }: Stage, name: string): Promise<Person> {
  const { console, accessToken } = await addPerson({ url, admin }, `${name}@example.com`);
  const { value } = await console.keys.create.mutate({ name: "Key", models: [model] });
  return { key: value, accessToken };
}

function never(): never {
  throw new Error("There is no attacker.");
}

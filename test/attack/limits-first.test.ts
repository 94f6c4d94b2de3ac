import { once } from "node:events";
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from "node:zlib";
import test from "ava";
import { BodyBudget, consoleOf, DecoderSlots, strangers } from "../../gateway/http/body-budget.ts";
import { createId } from "../../gateway/ids.ts";
import { createV1Router } from "../../gateway/v1/router.ts";
import { eventually } from "../helpers/eventually.ts";
import { chatBody, postChat, postTo } from "../helpers/post-chat.ts";
import { openSocket } from "../helpers/responses-socket.ts";
import { sendRaw } from "../helpers/send-raw.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";
import { countWork } from "./count-work.ts";
import { limitedRoutes, type LimitedTarget, openRoutes } from "./limited-routes.ts";

const gateway = shareGateway();
const model = "demo/echo";
const itemsMax = 5_000;
/** A kept response of 3 MB, and a limit far below for the work on a short request. */
const workBytesMax = 64 * 1024;

test("every route with a key has a row", (t) => {
  const { stack } = createV1Router({ ...gateway().services, trustedProxies: 0 });
  const served = stack.flatMap(({ route }) =>
    route && !openRoutes.includes(String(route.path))
      ? route.stack.flatMap(({ method }) => (method ? `${method} ${String(route.path)}` : []))
      : [],
  );
  const rows = limitedRoutes.map(({ name }) => name).filter((name) => !name.startsWith("WebSocket"));
  t.deepEqual(rows.toSorted(), served.toSorted());
});

for (const [limit, limits] of [
  ["requests", { requestsPerMinute: 1 }],
  ["tokens", { tokensPerMinute: 150 }],
] as const) {
  for (const { name, send } of limitedRoutes) {
    test.serial(`${name}: a key over its ${limit} per minute gets 429 before any work`, async (t) => {
      const target = await prepare(t, gateway(), limits);
      const first = await postChat(target, target.key, chatBody(model, "word ".repeat(90)));
      t.is(first.status, 200);
      const { result, workBytes } = await countWork(() => send(target));
      t.is(result, 429);
      t.true(workBytes < workBytesMax, String(workBytes));
    });
  }
}

for (const { name, send } of limitedRoutes.filter(({ name }) => /input_items|post .*responses/.test(name))) {
  test.serial(
    `${name}: the size of a kept response does not matter for an unknown model or a page`,
    async (t) => {
      const target = await prepare(t, gateway(), {});
      const { result, workBytes } = await countWork(() => send({ ...target, model: "demo/unknown" }));
      t.is(result, name.includes("input_items") ? 200 : 400);
      t.true(workBytes < workBytesMax, String(workBytes));
    },
  );
}

for (const { name, send } of limitedRoutes.filter(({ name }) => /responses|WebSocket/.test(name))) {
  test.serial(`${name}: a key over its limit looks up no kept response`, async (t) => {
    const { keptResponses } = gateway().services;
    if (!keptResponses) throw new Error("The gateway keeps responses by default.");
    const target = await prepare(t, gateway(), { requestsPerMinute: 1 });
    await send(target);
    let lookUps = 0;
    const find = keptResponses.find.bind(keptResponses);
    keptResponses.find = (...parameters) => {
      lookUps++;
      return find(...parameters);
    };
    t.teardown(() => (keptResponses.find = find));
    t.is(await send(target), 429);
    t.is(lookUps, 0);
  });
}

test.serial("routes without a model count as requests", async (t) => {
  for (const { name, send } of limitedRoutes.filter(({ name }) => !isModelRoute(name))) {
    const target = await prepare(t, gateway(), { requestsPerMinute: 1 });
    t.is(await send(target), 200, name);
    t.is(await send(target), 429, name);
  }
});

function isModelRoute(name: string): boolean {
  return /^WebSocket turn|^post (?!.*_tokens$)/.test(name);
}

async function prepare(
  t: Parameters<typeof openSocket>[0],
  { url, admin, services }: TestGateway,
  limits: { requestsPerMinute?: number; tokensPerMinute?: number },
): Promise<LimitedTarget> {
  const { key, value } = await admin.keys.create.mutate({ name: "Limited", models: [model], limits });
  const id = createId("req", services.runtime).replace("req", "resp");
  const input = Array.from({ length: itemsMax }, () => ({ role: "user", content: "x".repeat(600) }));
  const output = [{ type: "message", role: "assistant", content: "Yes" }];
  services.keptResponses?.keep(key.id, { response: { id }, output }, input);
  const socket = await openSocket(t, { url }, value);
  return { url, key: value, model, id, socket };
}

const spaces = Buffer.alloc(32 * 1024 * 1024, " ");
const brotliOf = (lgwin: number, body: Buffer) =>
  brotliCompressSync(body, {
    params: { [constants.BROTLI_PARAM_LGWIN]: lgwin, [constants.BROTLI_PARAM_QUALITY]: 5 },
  });
const zstdOf = (windowLog: number, body: Buffer) =>
  zstdCompressSync(body, { params: { [constants.ZSTD_c_windowLog]: windowLog } });

test("windows beyond 4 MB are refused, smaller ones are answered, nothing stays held", async (t) => {
  const { value } = await createKey(gateway());
  const body = Buffer.from(JSON.stringify(chatBody("demo/echo")));
  const post = (encoding: string, bytes: Buffer) => {
    const headers = { authorization: `Bearer ${value}`, "content-encoding": encoding };
    return postTo(gateway(), "/v1/chat/completions", headers, bytes);
  };
  for (const [encoding, bytes] of [
    ["br", brotliOf(24, spaces)],
    ["br", brotliOf(23, body)],
    ["zstd", zstdOf(24, spaces)],
  ] as const) {
    const { status, text } = await post(encoding, bytes);
    t.is(status, 400, text);
    t.regex(text, /window/);
  }
  for (const [encoding, bytes] of [
    ["br", brotliOf(22, body)],
    ["br", brotliOf(10, body)],
    ["zstd", zstdOf(21, body)],
    ["gzip", gzipSync(body)],
  ] as const)
    t.is((await post(encoding, bytes)).status, 200, encoding);
  const second = zstdOf(24, spaces);
  t.is((await post("zstd", Buffer.concat([zstdOf(21, body), second]))).status, 400, "a second frame");
  const { bodyBudget } = gateway().services;
  await eventually(() => bodyBudget.bytes === 0 && bodyBudget.decoders.atWork === 0);
});

test("100 compressed bodies of a key never have more than one decoder at work", async (t) => {
  const gateway = await startTestGateway(t);
  const { value } = await createKey(gateway);
  const { bodyBudget } = gateway.services;
  let [mostAtWork, mostBytes] = [0, 0];
  const { add } = bodyBudget;
  bodyBudget.add = (...parts) => {
    add.apply(bodyBudget, parts);
    mostAtWork = Math.max(mostAtWork, bodyBudget.decoders.atWork);
    mostBytes = Math.max(mostBytes, bodyBudget.bytes);
  };
  const headers = { authorization: `Bearer ${value}`, "content-encoding": "br" };
  const body = brotliOf(22, spaces);
  const statuses = await Promise.all(
    Array.from({ length: 100 }, async () => (await postTo(gateway, "/v1/messages", headers, body)).status),
  );
  t.deepEqual(new Set(statuses), new Set([413]));
  t.is(mostAtWork, 1);
  t.true(mostBytes < 20 * 1024 * 1024, String(mostBytes));
  await eventually(() => bodyBudget.bytes === 0 && bodyBudget.decoders.atWork === 0);
});

test("decoders wait in turns of their holders, and leave on every path", async (t) => {
  const slots = new DecoderSlots();
  const order: string[] = [];
  const join = (holder: string) => {
    const slot = slots.join(holder);
    slot.ready.then(
      () => order.push(holder),
      () => order.push(`${holder} left`),
    );
    return slot;
  };
  const first = [join("a"), join("b"), join("c"), join("d")];
  const waiting = [join("a"), join("a"), join("e")];
  waiting[0]?.leave();
  first[0]?.leave();
  first[0]?.leave();
  await new Promise(setImmediate);
  t.is(slots.atWork, 4);
  first[2]?.leave();
  await new Promise(setImmediate);
  t.deepEqual(order.toSorted(), ["a", "a", "a left", "b", "c", "d", "e"]);
  for (const slot of [...first, ...waiting]) slot.leave();
  t.is(slots.atWork, 0);
});

for (const path of ["/trpc/auth.signIn", "/graphql"]) {
  test(`${path} decompresses nothing`, async (t) => {
    const headers = { authorization: `Bearer ${gateway().accessToken}`, "content-encoding": "gzip" };
    const { status, text } = await postTo(gateway(), path, headers, gzipSync("{}"));
    t.is(status, 415, text);
    await eventually(() => gateway().services.bodyBudget.bytes === 0);
  });
}

test("a WebSocket message of more than 64 fragments closes the connection", async (t) => {
  const { value } = await createKey(gateway());
  const { socket, closed } = await openSocket(t, gateway(), value);
  for (let fragment = 0; fragment < 65; fragment++) socket.send("x", { fin: false });
  t.is(await closed(), 1008);
  await eventually(() => gateway().services.bodyBudget.bytes === 0);
});

test("a person's keys have RESPONSES_SOCKETS_PER_PERSON_MAX connections together", async (t) => {
  const gateway = await startTestGateway(t, { environment: { RESPONSES_SOCKETS_PER_PERSON_MAX: "2" } });
  for (const { value } of [await createKey(gateway), await createKey(gateway)])
    await openSocket(t, gateway, value);
  const { value } = await createKey(gateway);
  const refused = await t.throwsAsync(openSocket(t, gateway, value));
  t.is(refused?.message, "Unexpected server response: 429");
});

test("an upgrade with two Host headers gets 400", async (t) => {
  const { value } = await createKey(gateway());
  const head = ["GET /v1/responses HTTP/1.1", "Host: a", "Host: b", `Authorization: Bearer ${value}`];
  head.push("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13");
  head.push("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==");
  const answer = await sendRaw(gateway().url, `${head.join("\r\n")}\r\n\r\n`);
  t.is(answer.status, 400);
});

test("a key at its share of the body budget leaves memory to the person's other keys", async (t) => {
  const gateway = await startTestGateway(t);
  const { bodyBudget } = gateway.services;
  const held = bodyBudget.hold({ person: "usr_1", key: "key_1" });
  const megabyte = 1024 * 1024;
  held.add(112 * megabyte);
  t.throws(() => held.add(1));
  const other = bodyBudget.hold({ person: "usr_1", key: "key_2" });
  t.notThrows(() => other.add(16 * megabyte));
  held.release();
  other.release();
  t.is(bodyBudget.bytes, 0);
});

test("an idle WebSocket holds no memory for its last message, pings and pongs", async (t) => {
  const gateway = await startTestGateway(t);
  const { value } = await createKey(gateway);
  const { socket, send, until, frames } = await openSocket(t, gateway, value);
  const { bodyBudget } = gateway.services;
  send("x".repeat(10_000));
  await until(() => frames[0]);
  t.is(bodyBudget.bytes, 0);
  for (let count = 0; count < 100; count++) {
    const answered = once(socket, "pong");
    socket.ping("x".repeat(count));
    socket.pong();
    await answered;
  }
  await eventually(() => bodyBudget.bytes === 0);
  socket.send("x", { fin: false });
  await eventually(() => bodyBudget.bytes > 500);
});

test("strangers together hold a sixteenth of the body budget", (t) => {
  const budget = new BodyBudget(1_600);
  const held = budget.hold(strangers);
  held.add(100);
  t.throws(() => budget.hold(strangers).add(1));
  t.notThrows(() => budget.hold(consoleOf("usr_1")).add(700));
});

for (const [path, bytes] of [
  ["/graphql", 1_000],
  ["/trpc/keys.create", 100_000],
  ["/trpc/keys.create", 1_000],
] as const) {
  test(`a body of ${bytes} bytes to ${path} counts for the signed-in person`, async (t) => {
    const gateway = await startTestGateway(t);
    const { bodyBudget } = gateway.services;
    const holders = new Set<string>();
    const { add } = bodyBudget;
    bodyBudget.add = (holder, more) => {
      holders.add(holder.person);
      add.call(bodyBudget, holder, more);
    };
    const person = await gateway.admin.auth.me.query();
    const headers = { authorization: `Bearer ${gateway.accessToken}` };
    await postTo(gateway, path, headers, { query: "q".repeat(bytes) });
    t.deepEqual([...holders], [person.id]);
    await eventually(() => bodyBudget.bytes === 0);
  });
}

import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import test, { type ExecutionContext } from "ava";
import fc from "fast-check";
import { Redis } from "ioredis";
import type { GatewayError } from "../../gateway/errors.ts";
import { readFollowUp } from "../../gateway/kept-responses/follow-up.ts";
import { MemoryStore, type MemoryStoreOptions } from "../../gateway/kept-responses/memory-store.ts";
import { countBytes, type KeptResponse } from "../../gateway/kept-responses/response-store.ts";
import { formatItems, itemAt } from "../../gateway/wire/json-items.ts";
import { bodyLimits } from "../helpers/body-limits.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { dumpDatabase } from "../helpers/dump-database.ts";
import { findLeaks } from "../helpers/find-leaks.ts";
import { problemsOf } from "../helpers/problems-of.ts";
import { responsesClient } from "../helpers/responses-client.ts";
import { answerChat, createUpstream } from "../helpers/scripted-upstream.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";
import { startValkey, valkeyProgram } from "../helpers/valkey-server.ts";

const suffix = "01kahs6zxm8qv2c9d4r7tn5wbe";
const id = `resp_${suffix}`;
const limits = { ...bodyLimits, requestTranslatedBytesMax: 100_000 };
const say = (role: string, content: string, more: object = {}) => ({ role, content, ...more });

const answer = { ...say("assistant", "Hello"), type: "message", id: `msg_${suffix}_0` };
const kept = keptOf([say("user", "Hi")], [answer]);

function keptOf(input: object[], output: object[]): KeptResponse {
  const response = Buffer.from(JSON.stringify({ id }));
  return { response, input: formatItems(input), output: formatItems(output), tokens: 0 };
}

async function read(body: object, response = kept, lookups: string[] = []) {
  const bytes = Buffer.from(JSON.stringify(body));
  const followUp = await readFollowUp(bytes, limits, (asked) => {
    lookups.push(asked);
    return asked === id ? response : null;
  });
  if (followUp === null) return null;
  const joined = followUp.join();
  return { ...followUp, joined, body: JSON.parse(joined.toString()) as unknown, same: joined === bytes };
}

test("an earlier response precedes the input, without its instructions", async (t) => {
  const more = { model: "a/b", instructions: "Be brief." };
  const followUp = await read({ ...more, previous_response_id: id, input: "And now?" });
  t.deepEqual(followUp?.body, { ...more, input: [say("user", "Hi"), answer, say("user", "And now?")] });
  t.like(followUp, { previousResponseId: id, missing: null });
  const without = await read({ ...more, previous_response_id: id });
  t.deepEqual(without?.body, { ...more, input: [say("user", "Hi"), answer] });
});

test("references of the input become the items that they name", async (t) => {
  const input = [`msg_${suffix}_0`, `msg_${suffix}_in0`].map((each) => ({
    type: "item_reference",
    id: each,
  }));
  const followUp = await read({ model: "a/b", input: [...input, say("user", "Go on")] });
  t.deepEqual(followUp?.body, { model: "a/b", input: [answer, say("user", "Hi"), say("user", "Go on")] });
  t.is(followUp?.previousResponseId, null);
});

test("what is not kept stays in the body, byte for byte where nothing is", async (t) => {
  for (const [unknown, code] of [
    [{ previous_response_id: "resp_68ab", input: "x" }, "previous_response_not_found"],
    [{ previous_response_id: `resp_${"0".repeat(26)}`, input: "x" }, "previous_response_not_found"],
    [{ input: [{ type: "item_reference", id: "msg_68ab" }] }, "item_not_found"],
  ] as const) {
    const followUp = await read({ model: "a/b", ...unknown });
    t.is((followUp?.missing as GatewayError | null)?.code, code, JSON.stringify(unknown));
    t.true(followUp?.same);
  }
  for (const wrong of [`msg_${suffix}_7`, `fc_${suffix}_0`]) {
    const body = { input: [{ type: "item_reference", id: wrong }] };
    const followUp = await read(body);
    t.deepEqual([followUp?.missing?.code, followUp?.body], ["item_not_found", body]);
  }
  const mixed = [
    { type: "item_reference", id: "msg_68ab" },
    { type: "item_reference", id: answer.id },
  ];
  const followUp = await read({ previous_response_id: "resp_68ab", input: mixed });
  t.deepEqual(followUp?.body, { previous_response_id: "resp_68ab", input: [mixed[0], answer] });
  t.is(followUp?.missing?.code, "previous_response_not_found");
});

test("bodies without references, and invalid ones, are left to the dialect", async (t) => {
  for (const body of [
    { input: "previous_response_id" },
    { previous_response_id: 7, input: "x" },
    { previous_response_id: null, input: [{ type: "item_reference" }, null, 3] },
    { input: [{ type: "item_reference", id: {} }] },
  ]) {
    t.is(await read(body), null, JSON.stringify(body));
  }
  const broken = Buffer.from(`{"previous_response_id":"${id}","input":`);
  t.is(await readFollowUp(broken, limits, () => kept), null);
});

test("a small body cannot refer to a large item without bound", async (t) => {
  const large = keptOf([], [{ ...answer, content: "x".repeat(30_000) }]);
  const references = (count: number) =>
    Array(count).fill({ type: "item_reference", id: answer.id }) as object[];
  t.truthy(await read({ input: references(3) }, large));
  await t.throwsAsync(read({ input: references(4) }, large), { code: "request_too_large" });
  const larger = keptOf([], [{ ...answer, content: "x".repeat(100_000) }]);
  await t.throwsAsync(read({ previous_response_id: id }, larger), { code: "request_too_large" });
});

test("a body with many invented references looks up a bounded number", async (t) => {
  const input = Array.from({ length: 3_000 }, (_, index) => {
    const invented = String(index).padStart(26, "0");
    return { type: "item_reference", id: `msg_${invented}_0` };
  });
  const lookups: string[] = [];
  await read({ input: [...input, ...input] }, kept, lookups);
  t.is(lookups.length, 1_000);
});

const json = fc.json({ maxDepth: 3 });
const spaces = fc.stringMatching(/^[ \n\t]{0,2}$/);

test("the joined body has the size that the limits count, and its items' positions", async (t) => {
  const item = fc.json({ maxDepth: 2 }).map((content) => `{"role":"user","content":${content}}`);
  const list = fc.tuple(fc.array(item, { maxLength: 4 }), spaces);
  await fc.assert(
    fc.asyncProperty(list, list, json, spaces, async ([earlier], [items, space], other, gap) => {
      const response = { ...kept, input: formatItems(earlier.map((each) => JSON.parse(each) as unknown)) };
      const input = `[${space}${items.join(`${space},${space}`)}${space}]`;
      const text = `{${gap}"other"${gap}:${other}${gap},"previous_response_id":"${id}","input"${gap}:${input}${gap}}`;
      const followUp = await readFollowUp(
        Buffer.from(text),
        { ...limits, requestJsonValuesMax: 1e6 },
        () => response,
      );
      if (!followUp) return t.fail(text);
      const joined = followUp.join();
      t.is(joined.length, followUp.bytesLength);
      const expected = [...earlier.map((each) => JSON.parse(each) as unknown), answer];
      for (const each of items) expected.push(JSON.parse(each));
      t.deepEqual(JSON.parse(joined.toString()), { other: JSON.parse(other) as unknown, input: expected });
      const list = followUp.joinInput();
      const read = Array.from(list.starts, (_, index) => JSON.parse(String(itemAt(list, index))) as unknown);
      t.deepEqual(read, expected);
    }),
  );
});

const canary = "canary-of-a-prompt-5d41402abc4b";
const answerCanary = "canary-of-an-answer-7d793037a0";

async function start(t: ExecutionContext, environment: Record<string, string> = {}, now?: () => number) {
  const upstream = await createUpstream(t, (request, response) =>
    answerChat(request, response, answerCanary),
  );
  const gateway = await startTestGateway(t, { environment, ...(now && { runtime: { now } }) });
  const { value, id: keyId, model } = await connectUpstream(gateway, upstream);
  return { gateway, upstream, client: responsesClient(gateway, value), keyId, keyValue: value, model };
}

async function contentOf(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const contents = await Promise.all(
    files.map((file) => readFile(path.join(file.parentPath, file.name), "latin1")),
  );
  return contents.join("\n");
}

test("in memory, no prompt or answer reaches the data folder, the database or the log", async (t) => {
  const { gateway, client, model } = await start(t);
  const first = await client.create({ model, input: canary });
  const second = await client.create({ model, previous_response_id: first.id, input: "More", stream: true });
  t.is((await client.call("GET", `/${second.id}/input_items`)).status, 200);
  await client.call("POST", "", { model, previous_response_id: "resp_unknown", input: canary });
  await gateway.services.recorder.flush();
  const { DATA_DIR = "", DATABASE_URL = "" } = gateway.environment;
  const files = (await contentOf(DATA_DIR)) + (await dumpDatabase(DATABASE_URL));
  t.true(files.includes("upstream-model"), "the records are there");
  t.deepEqual(findLeaks(files + gateway.log.join("\n"), { canary, answerCanary }), []);
});

test("responses expire an hour after their last use, by the gateway's clock", async (t) => {
  const clock = { ms: Date.now() };
  const { client, model } = await start(t, {}, () => clock.ms);
  const { id } = await client.create({ model, input: "Hi" });
  clock.ms += 3_599_000;
  t.is((await client.call("GET", `/${id}`)).status, 200);
  clock.ms += 3_600_001;
  t.is((await client.call("GET", `/${id}`)).status, 404);
  const late = await client.call("POST", "", { model, input: "x", previous_response_id: id });
  t.regex(late.text, /"code":"previous_response_not_found"/);
});

test("a response beyond its bytes is not kept and reports so", async (t) => {
  const { client, model } = await start(t, { RESPONSE_BYTES_MAX: "4000" });
  for (const stream of [false, true]) {
    t.true((await client.create({ model, input: "Hi", stream })).store);
    const large = await client.create({ model, input: "x".repeat(4_000), stream });
    t.false(large.store);
    t.is((await client.call("GET", `/${large.id}`)).status, 404);
  }
});

test("with RESPONSES_STATE=off, references are refused in words that name store: false", async (t) => {
  const { client, model } = await start(t, { RESPONSES_STATE: "off" });
  const { id, store, output } = await client.create({ model, input: "Hi" });
  t.false(store);
  t.is((await client.call("GET", `/${id}`)).status, 404);
  const reference = { type: "item_reference", id: output[0]?.id };
  for (const body of [{ input: "x", previous_response_id: id }, { input: [reference] }]) {
    const { status, text } = await client.call("POST", "", { model, ...body });
    t.is(status, 400);
    t.regex(text, /"code":"unsupported_parameter"/);
    t.true(
      text.includes("because this gateway keeps no responses.") && text.includes("`store: false`"),
      text,
    );
  }
});

test("failed and cancelled responses leave nothing, incomplete ones are kept", async (t) => {
  const { gateway, client, upstream, model } = await start(t);
  const kept = gateway.services.keptResponses;
  t.truthy(kept);
  const failing = await createUpstream(t, ({ body }, response) => {
    const events = [{ delta: { content: "Half" }, finish_reason: body.includes("length") ? "length" : null }];
    response.writeHead(200, { "content-type": "text/event-stream" });
    const data = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
    for (const choice of events) {
      response.write(`data: ${JSON.stringify({ ...data, choices: [{ index: 0, ...choice }] })}\n\n`);
    }
    response.end(body.includes("length") ? "data: [DONE]\n\n" : "");
  });
  const { value, model: broken } = await connectUpstream(gateway, failing, { name: "broken" });
  const other = responsesClient(gateway, value);
  const incomplete = await other.create({ model: broken, input: "length", stream: true });
  t.like(incomplete, { status: "incomplete", store: true });
  t.is((await other.call("GET", `/${incomplete.id}`)).status, 200);
  const failed = await other.create({ model: broken, input: "Break off", stream: true });
  t.like(failed, { status: "failed", store: false });
  t.is((await other.call("GET", `/${failed.id}`)).status, 404);
  t.is(upstream.requests.length, 0);
  t.true((await client.create({ model, input: "Hi" })).store);
});

test("RESPONSES_STATE needs a place that every process reaches", (t) => {
  const mysql = { DATABASE_URL: "mysql://a:b@c/d", WORKERS: "2" };
  t.deepEqual(problemsOf({ RESPONSES_STATE: "valkey" }).length, 1);
  t.deepEqual(problemsOf({ RESPONSES_STATE: "memory", ...mysql }).length, 1);
  t.deepEqual(problemsOf({ RESPONSES_STATE: "disk" }).length, 1);
  for (const state of ["off", "valkey"]) {
    t.deepEqual(problemsOf({ RESPONSES_STATE: state, VALKEY_URL: "redis://c", ...mysql }), []);
  }
});

if (valkeyProgram) {
  test("in Valkey, responses are sealed, only for their key, and outlive a process", async (t) => {
    const valkey = await startValkey(t);
    const environment = { RESPONSES_STATE: "valkey", VALKEY_URL: valkey.url };
    const { gateway, client, model, keyId, keyValue } = await start(t, environment);
    const first = await client.create({ model, input: canary });
    const second = await client.create({
      model,
      previous_response_id: first.id,
      input: "More",
      stream: true,
    });
    t.like(second, { store: true, previous_response_id: first.id });
    const other = await createKey(gateway, [model]);
    const stranger = responsesClient(gateway, other.value);
    t.is((await stranger.call("GET", `/${first.id}`)).status, 404);

    const redis = new Redis(valkey.url);
    t.teardown(() => redis.disconnect());
    const keys = await redis.keys(`*response:${keyId}:*`);
    t.is(keys.length, 2);
    const values = await redis.mget(keys);
    t.true(values.every((sealed) => sealed?.startsWith("gw1.")));
    t.deepEqual(findLeaks(values.join("\n") + gateway.log.join("\n"), { canary, answerCanary }), []);
    const [ttl = 0] = await Promise.all(keys.map((key) => redis.pttl(key)));
    t.true(ttl > 3_000_000 && ttl <= 3_600_000);

    const [from = "", to = ""] = [first.id, second.id].map((id) => `{model-gateway}:response:${keyId}:${id}`);
    await redis.set(to, (await redis.get(from)) ?? "");
    t.is((await client.call("GET", `/${second.id}`)).status, 404, "an envelope opens only in its place");
    await gateway.close();
    const next = await startTestGateway(t, { environment: gateway.environment });
    const again = responsesClient(next, keyValue);
    await again.create({ model, previous_response_id: first.id, input: "After a restart" });
    t.is((await again.call("DELETE", `/${first.id}`)).status, 200);
    t.is((await again.call("DELETE", `/${first.id}`)).status, 404);
    const index = await redis.zrange(`{model-gateway}:responses:${keyId}`, "0", "-1");
    t.is(index.length, 2);
    t.false(index.some((member) => member.endsWith(first.id)));
    await next.admin.keys.deactivate.mutate({ id: keyId });
    t.deepEqual(await redis.keys(`*${keyId}*`), []);
  });

  test("in Valkey, a key's least recently used responses make room for its new ones", async (t) => {
    const valkey = await startValkey(t);
    const environment = {
      RESPONSES_STATE: "valkey",
      VALKEY_URL: valkey.url,
      RESPONSES_PER_KEY_BYTES_MAX: "16000",
    };
    const { client, model } = await start(t, environment);
    const ids: string[] = [];
    for (let index = 0; index < 8; index++)
      ids.push((await client.create({ model, input: "x".repeat(1_000) })).id);
    const statuses = await Promise.all(ids.map(async (id) => (await client.call("GET", `/${id}`)).status));
    t.is(statuses[0], 404);
    t.is(statuses.at(-1), 200);
    t.deepEqual(statuses, statuses.toSorted().toReversed(), "the oldest went first");
  });

  test("without Valkey, a follow-up gets 503 and a new response reports store: false", async (t) => {
    const valkey = await startValkey(t);
    const environment = { RESPONSES_STATE: "valkey", VALKEY_URL: valkey.url };
    const { client, model } = await start(t, environment);
    const { id } = await client.create({ model, input: "Hi" });
    await valkey.stop();
    const body = { model, previous_response_id: id, input: "More" };
    t.is((await client.call("POST", "", body)).status, 503);
    t.is((await client.call("GET", `/${id}`)).status, 503);
    t.false((await client.create({ model, input: "Hi" })).store);
  });
}

const hourMs = 3_600_000;

function open(t: ExecutionContext, options: Partial<MemoryStoreOptions> = {}) {
  const clock = { now: 0 };
  const limits = { bytesMax: 100_000, keyBytesMax: 50_000, keptMs: hourMs };
  const store = new MemoryStore({ now: () => clock.now, ...limits, ...options });
  t.teardown(() => store.close());
  return { store, clock };
}

function sized(bytes: number): KeptResponse {
  const empty = { response: Buffer.alloc(0), input: formatItems([]), output: formatItems([]), tokens: 0 };
  return { ...empty, response: Buffer.alloc(bytes - countBytes(empty)) };
}

test("a response is gone an hour after its last use", (t) => {
  const { store, clock } = open(t);
  store.keep("key_1", "one", sized(4_000));
  store.keep("key_1", "two", sized(4_000));
  clock.now = hourMs - 1;
  t.truthy(store.find("key_1", "one"));
  clock.now = hourMs;
  t.is(store.find("key_1", "two"), null);
  t.truthy(store.find("key_1", "one"), "its use renewed it");
  clock.now = 2 * hourMs;
  t.is(store.find("key_1", "one"), null);
  t.false(store.delete("key_1", "one"));
  t.is(store.bytes, 0);
});

test("another key neither finds, deletes nor forgets a response", (t) => {
  const { store } = open(t);
  store.keep("key_1", "one", sized(4_000));
  t.is(store.find("key_2", "one"), null);
  t.false(store.delete("key_2", "one"));
  store.forget("key_2");
  t.truthy(store.find("key_1", "one"));
  store.forget("key_1");
  t.is(store.find("key_1", "one"), null);
  t.is(store.bytes, 0);
});

test("a key's least recently used responses make room for its new ones", (t) => {
  const { store } = open(t);
  store.keep("key_2", "other", sized(4_000));
  for (const id of ["one", "two", "three"]) t.true(store.keep("key_1", id, sized(16_000)));
  store.find("key_1", "one");
  store.keep("key_1", "four", sized(16_000));
  t.is(store.find("key_1", "two"), null);
  for (const id of ["one", "three", "four"]) t.truthy(store.find("key_1", id), id);
  t.truthy(store.find("key_2", "other"), "another key's stay");
  t.false(store.keep("key_1", "large", sized(50_001)));
  t.truthy(store.find("key_1", "four"), "one that does not fit drops nothing");
});

test("when the process is full, the key with the most bytes makes room", (t) => {
  const { store } = open(t);
  store.keep("key_1", "small", sized(4_000));
  for (let index = 0; index < 20; index++) {
    store.keep("key_2", `second_${index}`, sized(10_000));
    store.keep("key_3", `third_${index}`, sized(10_000));
  }
  t.truthy(store.find("key_1", "small"));
  t.true(store.bytes <= 100_000);
});

test("the bytes of a process and of a key never exceed their limits", (t) => {
  const step = fc.record({
    key: fc.integer({ min: 1, max: 4 }),
    id: fc.integer({ min: 1, max: 30 }),
    bytes: fc.integer({ min: 2_200, max: 12_000 }),
    does: fc.constantFrom("keep", "find", "delete", "forget", "wait"),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { store, clock } = open(t, { bytesMax: 30_000, keyBytesMax: 15_000 });
      const kept = new Map<string, number>();
      for (const { key, id, bytes, does } of steps) {
        const keyId = `key_${key}`;
        const name = `${key}_${id}`;
        if (does === "keep" && store.find(keyId, name) === null) {
          store.keep(keyId, name, sized(bytes));
          kept.set(name, bytes);
        } else if (does === "find") store.find(keyId, name);
        else if (does === "delete") store.delete(keyId, name);
        else if (does === "forget") store.forget(keyId);
        else if (does === "wait") clock.now += hourMs / 4;
        t.true(store.bytes <= 30_000);
      }
      let sum = 0;
      for (let key = 1; key <= 4; key++) {
        let ofKey = 0;
        for (let id = 1; id <= 30; id++) {
          if (store.find(`key_${key}`, `${key}_${id}`)) ofKey += kept.get(`${key}_${id}`) ?? 0;
        }
        t.true(ofKey <= 15_000);
        sum += ofKey;
      }
      t.is(sum, store.bytes, "every counted byte is found");
      store.close();
    }),
    { numRuns: 100 },
  );
});

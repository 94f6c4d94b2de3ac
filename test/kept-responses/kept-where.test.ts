import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { Redis } from "ioredis";
import test, { type ExecutionContext } from "ava";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { dumpDatabase } from "../helpers/dump-database.ts";
import { findLeaks } from "../helpers/find-leaks.ts";
import { problemsOf } from "../helpers/problems-of.ts";
import { responsesClient } from "../helpers/responses-client.ts";
import {
  beginStream,
  chunkEvent,
  createUpstream,
  doneEvent,
  sendCompletion,
  usageEvent,
} from "../helpers/scripted-upstream.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";
import { startValkey, valkeyProgram } from "../helpers/valkey-server.ts";

const canary = "canary-of-a-prompt-5d41402abc4b";
const answerCanary = "canary-of-an-answer-7d793037a0";

async function start(t: ExecutionContext, environment: Record<string, string> = {}, now?: () => number) {
  const upstream = await createUpstream(t, ({ body }, response) => {
    if (!body.includes('"stream":true')) return sendCompletion(response, answerCanary);
    beginStream(response);
    response.end(chunkEvent(answerCanary) + usageEvent + doneEvent);
  });
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

import Anthropic from "@anthropic-ai/sdk";
import test from "ava";
import OpenAI from "openai";
import { FairQueue, type QueueSlot } from "../../gateway/limits/rates/admission.ts";
import { assertError, serverError } from "../helpers/assert-error.ts";
import { errorDialects } from "../helpers/client-dialects.ts";
import { eventually } from "../helpers/eventually.ts";
import { chatBody, postChat, postTo } from "../helpers/post-chat.ts";
import { sendCompletion } from "../helpers/scripted-upstream.ts";
import { shareLimits } from "../helpers/share-limits.ts";
import { usageOf } from "../helpers/test-gateway.ts";

const shared = shareLimits();

test.serial("a per-minute limit sends OpenAI's headers and a recorded 429 with retry-after", async (t) => {
  const { gateway, upstream, model, keyWith, stopClock } = shared();
  stopClock(t);
  const prompt = "three a minute";
  upstream.scripts.set(prompt, (response) => sendCompletion(response));
  const key = await keyWith({ requestsPerMinute: 3 });
  for (const left of ["2", "1", "0"]) {
    const { status, headers } = await postChat(gateway, key.value, chatBody(model.slug, prompt));
    t.is(status, 200);
    t.is(headers.get("x-ratelimit-limit-requests"), "3");
    t.is(headers.get("x-ratelimit-remaining-requests"), left);
    t.regex(headers.get("x-ratelimit-reset-requests") ?? "", /^(59(\.\d+)?s|1m0s)$/);
    t.is(headers.get("x-ratelimit-limit-tokens"), null);
  }
  const refused = await postChat(gateway, key.value, chatBody(model.slug, prompt));
  const error = { status: 429, type: "requests", param: null, code: "rate_limit_exceeded" };
  t.regex(assertError(t, refused, error), /this API key: 3 requests per minute\. Retry in \d+ s\.$/);
  const wait = Number(refused.headers.get("retry-after"));
  t.true(wait > 50 && wait <= 60, `${wait}`);
  t.is(refused.headers.get("x-ratelimit-remaining-requests"), "0");
  t.is(upstream.seen(prompt).length, 3, "it costs nothing upstream");

  const [record] = await usageOf(gateway, key.id);
  t.like(record, {
    status: "FAILED",
    httpStatus: 429,
    errorCode: "rate_limit_exceeded",
    attempts: 0,
    cost: 0,
  });
  t.like(record, { model: model.slug, inputTokens: null, outputTokens: null });
});

test.serial("the openai SDK's own retry succeeds after retry-after", async (t) => {
  const { gateway, upstream, model, clock, keyWith, stopClock } = shared();
  const goOn = stopClock(t);
  const prompt = "wait for me";
  upstream.scripts.set(prompt, (response) => sendCompletion(response));
  const key = await keyWith({ requestsPerMinute: 2 });
  const statuses: number[] = [];
  const client = new OpenAI({
    apiKey: key.value,
    baseURL: `${gateway.url}/v1`,
    maxRetries: 1,
    fetch: async (...request) => {
      const response = await fetch(...request);
      statuses.push(response.status);
      if (response.status === 429) goOn();
      return response;
    },
  });
  const ask = () =>
    client.chat.completions.create({ model: model.slug, messages: [{ role: "user", content: prompt }] });
  await ask();
  await ask();
  clock.aheadMs += 58_500;
  t.is((await ask()).choices[0]?.message.content, "Hi!");
  t.deepEqual(statuses, [200, 200, 429, 200]);
});

test.serial("neither the openai nor the anthropic SDK retries an oversized request", async (t) => {
  const { gateway, model, keyWith } = shared();
  const key = await keyWith({ tokensPerMinute: 10 });
  const [content, statuses] = ["far too many words ".repeat(20), [] as number[]];
  const counting: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    statuses.push(response.status);
    return response;
  };
  const options = { apiKey: key.value, maxRetries: 3, fetch: counting };
  const openai = new OpenAI({ ...options, baseURL: `${gateway.url}/v1` });
  const messages = [{ role: "user" as const, content }];
  await t.throwsAsync(openai.chat.completions.create({ model: model.slug, messages }), {
    message: /too large for this API key/,
  });
  const anthropic = new Anthropic({ ...options, baseURL: gateway.url });
  await t.throwsAsync(anthropic.messages.create({ model: model.slug, max_tokens: 9, messages }), {
    message: /too large for this API key/,
  });
  t.deepEqual(statuses, [429, 429]);
});

test.serial("tokens per minute are estimated first and corrected afterwards", async (t) => {
  const { gateway, upstream, model, keyWith, stopClock } = shared();
  stopClock(t);
  const prompt = "some words that make a body of a hundred bytes and more, which is some thirty tokens";
  upstream.scripts.set(prompt, (response) => sendCompletion(response));
  const key = await keyWith({ tokensPerMinute: 60 });
  const first = await postChat(gateway, key.value, chatBody(model.slug, prompt));
  t.is(first.status, 200);
  t.is(first.headers.get("x-ratelimit-limit-tokens"), "60");
  t.is(first.headers.get("x-ratelimit-remaining-tokens"), "53", "seven were used");
  t.is(
    (await postChat(gateway, key.value, chatBody(model.slug, prompt))).headers.get(
      "x-ratelimit-remaining-tokens",
    ),
    "46",
  );

  const tooLarge = await postChat(gateway, key.value, chatBody(model.slug, prompt.repeat(5)));
  const error = { status: 429, type: "tokens", param: null, code: "rate_limit_exceeded" };
  t.regex(
    assertError(t, tooLarge, error),
    /too large for this API key.*Send less, or ask for a higher limit/,
  );
  t.is(tooLarge.headers.get("retry-after"), null, "no wait helps");
  t.is(tooLarge.headers.get("x-should-retry"), "false");

  for (let request = 0; request < 5; request++)
    await postChat(gateway, key.value, chatBody(model.slug, prompt));
  const refused = await postChat(gateway, key.value, chatBody(model.slug, prompt));
  t.regex(assertError(t, refused, error), /60 tokens per minute \(used \d\d,/);
  t.regex(refused.headers.get("retry-after") ?? "", /^\d+$/);
  t.like((await usageOf(gateway, key.id))[0], { httpStatus: 429, errorCode: "token_limit_exceeded" });
});

test.serial("concurrent requests never exceed the limit, and every ending frees a slot", async (t) => {
  const { gateway, upstream, model, keyWith } = shared();
  const prompt = "hold on";
  const held: (() => void)[] = [];
  let open = 0;
  let most = 0;
  upstream.scripts.set(prompt, async (response) => {
    most = Math.max(most, ++open);
    await new Promise<void>((resolve) => held.push(resolve));
    open--;
    sendCompletion(response);
  });
  const key = await keyWith({ concurrentRequests: 3 });
  const asked = Array.from({ length: 20 }, () => postChat(gateway, key.value, chatBody(model.slug, prompt)));
  await eventually(() => held.length === 3);
  await eventually(async () => (await usageOf(gateway, key.id)).length === 17);
  for (const release of held) release();
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  t.is(statuses.filter((status) => status === 200).length, 3);
  t.is(statuses.filter((status) => status === 429).length, 17);
  t.is(most, 3);

  const leaving = new AbortController();
  const left = postChat(gateway, key.value, chatBody(model.slug, prompt), leaving.signal);
  await eventually(() => held.length === 4);
  t.is(gateway.services.limiter.meters.get(key.id)?.concurrent, 1);
  leaving.abort();
  await t.throwsAsync(left);
  await eventually(() => gateway.services.limiter.meters.get(key.id)?.concurrent === 0);
  held[3]?.();
});

for (const { name, body } of errorDialects) {
  test.serial(`${name} receives its own form of each error`, async (t) => {
    const { gateway, upstream, model, keyWith, stopClock } = shared();
    stopClock(t);
    const key = await keyWith({ requestsPerMinute: 1, budgetsUsd: { total: 0 } });
    const ask = () => postTo(gateway, `/v1/${name}`, { "x-api-key": key.value }, body(model.slug, "one"));
    const spent = await ask();
    t.is(spent.status, 402, spent.text);
    t.regex(spent.text, name === "messages" ? /"billing_error"/ : /"code":"insufficient_quota"/);
    await gateway.admin.keys.setLimits.mutate({ id: key.id, limits: { budgetsUsd: { total: null } } });
    upstream.scripts.set("one", (response) => sendCompletion(response));
    t.is((await ask()).status, 200);
    const limited = await ask();
    t.is(limited.status, 429);
    t.regex(
      limited.text,
      name === "messages" ? /"rate_limit_error"/ : /"type":"requests".*"rate_limit_exceeded"/,
    );
    t.regex(limited.headers.get("retry-after") ?? "", /^\d+$/);
    t.is(limited.headers.get("x-ratelimit-limit-requests"), "1");
  });
}

const capacity = { CONCURRENT_REQUESTS_MAX: "2", QUEUED_REQUESTS_PER_KEY_MAX: "4" };
const atCapacity = shareLimits(capacity);
const impatient = shareLimits({ ...capacity, QUEUE_WAIT_MS_MAX: "1" });

test.serial("a process at capacity alternates between keys and refuses excess requests", async (t) => {
  const { gateway, upstream, model, keyWith } = atCapacity();
  const [greedy, modest] = [await keyWith({}), await keyWith({ concurrentRequests: 9 })];
  const held: (() => void)[] = [];
  const order: string[] = [];
  let [open, most] = [0, 0];
  for (const name of ["greedy", "modest"]) {
    upstream.scripts.set(name, async (response) => {
      order.push(name);
      most = Math.max(most, ++open);
      await new Promise<void>((resolve) => held.push(resolve));
      open--;
      sendCompletion(response);
    });
  }
  const askAs = (key: { value: string }, name: string) =>
    postChat(gateway, key.value, chatBody(model.slug, name));
  const greedyAsked = Array.from({ length: 9 }, () => askAs(greedy, "greedy"));
  await eventually(async () => (await usageOf(gateway, greedy.id)).length === 3);
  const modestAsked = [askAs(modest, "modest")];
  const meterOf = (id: string) => gateway.services.limiter.meters.get(id);
  await eventually(() => held.length === 2 && meterOf(modest.id)?.concurrent === 1);

  for (let released = 0; released < 7; released++) {
    await eventually(() => held.length > released);
    held[released]?.();
  }
  const statuses = (await Promise.all(greedyAsked)).map(({ status }) => status);
  t.deepEqual(statuses.toSorted(), [200, 200, 200, 200, 200, 200, 503, 503, 503]);
  t.is((await modestAsked[0])?.status, 200);
  t.is(most, 2);
  t.true(order.indexOf("modest") <= 3, `its turn came soon: ${order.join()}`);
  const refused = (await Promise.all(greedyAsked)).find(({ status }) => status === 503);
  if (!refused) return t.fail();
  const error = { ...serverError(503, "service_unavailable"), headers: { "retry-after": "1" } };
  t.regex(assertError(t, refused, error), /is at capacity/);
});

test("a request that left the queue in time is not refused later", async (t) => {
  const queue = new FairQueue({ concurrentRequestsMax: 1, queuedRequestsPerKeyMax: 9, queueWaitMsMax: 1 });
  const refused = Promise.withResolvers<string>();
  const [first] = ["first", "second", "third"].map((keyId): QueueSlot => {
    const slot: QueueSlot = { keyId, start() {}, refuse: () => refused.resolve(keyId), state: "new" };
    queue.enter(slot);
    return slot;
  });
  if (first) queue.leave(first);
  t.is(await refused.promise, "third");
});

/** Holds two requests, so that the key's next request waits. */
async function fill({ gateway, upstream, model, keyWith }: ReturnType<typeof atCapacity>) {
  const key = await keyWith({ concurrentRequests: 9, requestsPerMinute: 9, tokensPerMinute: 9_999 });
  const held: (() => void)[] = [];
  upstream.scripts.set("long", async (response) => {
    await new Promise<void>((resolve) => held.push(resolve));
    sendCompletion(response);
  });
  const ask = (signal?: AbortSignal) => postChat(gateway, key.value, chatBody(model.slug, "long"), signal);
  const running = [ask(), ask()];
  await eventually(() => held.length === 2);
  const used = () => gateway.services.limiter.statusOf(key);
  /** Returns the statuses of the two requests and of a third one. */
  const finish = async () => {
    for (const release of held) release();
    const answers = await Promise.all(running);
    const again = ask();
    await eventually(() => held.length === 3);
    held[2]?.();
    return [...answers, await again].map(({ status }) => status);
  };
  return { ask, used, usedBefore: used(), finish };
}

test.serial("a queued request that is cancelled uses no limit", async (t) => {
  const { ask, used, usedBefore, finish } = await fill(atCapacity());
  const leaving = new AbortController();
  const left = ask(leaving.signal).catch(() => "left");
  await eventually(() => used().concurrentRequests === 3);
  leaving.abort();
  t.is(await left, "left");
  await eventually(() => used().concurrentRequests === 2);
  t.deepEqual(used(), usedBefore);
  t.deepEqual(await finish(), [200, 200, 200]);
});

test.serial("a queued request that times out uses no limit", async (t) => {
  const { ask, used, usedBefore, finish } = await fill(impatient());
  const { status, headers } = await ask();
  t.is(status, 503);
  t.is(headers.get("x-ratelimit-remaining-requests"), "7", "the two that run");
  t.deepEqual(used(), usedBefore);
  t.deepEqual(await finish(), [200, 200, 200]);
});

test.serial("a key at ten times its limit receives its limit and delays no other key", async (t) => {
  const { gateway, upstream, model, keyWith, stopClock } = shared();
  stopClock(t);
  for (const prompt of ["greedy", "modest"]) {
    upstream.scripts.set(prompt, (response) => sendCompletion(response));
  }
  const greedy = await keyWith({ requestsPerMinute: 20 });
  const modest = await Promise.all(Array.from({ length: 4 }, () => keyWith({ requestsPerMinute: 20 })));
  const ask = async (key: { value: string }, prompt: string) =>
    (await postChat(gateway, key.value, chatBody(model.slug, prompt))).status;

  const greedyAsked = Array.from({ length: 200 }, () => ask(greedy, "greedy"));
  const modestAsked = modest.flatMap((key) => Array.from({ length: 20 }, () => ask(key, "modest")));
  const greedyStatuses = await Promise.all(greedyAsked);
  t.is(greedyStatuses.filter((status) => status === 200).length, 20);
  t.is(greedyStatuses.filter((status) => status === 429).length, 180);
  t.true((await Promise.all(modestAsked)).every((status) => status === 200));
  t.is(upstream.seen("greedy").length, 20, "what was refused cost nothing upstream");
});

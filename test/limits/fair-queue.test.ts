import test from "ava";
import { assertError, serverError } from "../helpers/assert-error.ts";
import { eventually } from "../helpers/eventually.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { sendCompletion } from "../helpers/scripted-upstream.ts";
import { shareLimits } from "../helpers/share-limits.ts";
import { usageOf } from "../helpers/test-gateway.ts";

const shared = shareLimits({
  CONCURRENT_REQUESTS_MAX: "2",
  QUEUED_REQUESTS_PER_KEY_MAX: "4",
  QUEUE_WAIT_MS_MAX: "3000",
});

test.serial("a process at capacity alternates between keys and refuses excess requests", async (t) => {
  const { gateway, upstream, model, keyWith } = shared();
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

test.serial("a queued request times out or is cancelled without using any limit", async (t) => {
  const { gateway, upstream, model, keyWith } = shared();
  const key = await keyWith({ concurrentRequests: 9, requestsPerMinute: 9, tokensPerMinute: 9_999 });
  const held: (() => void)[] = [];
  upstream.scripts.set("long", async (response) => {
    await new Promise<void>((resolve) => held.push(resolve));
    sendCompletion(response);
  });
  const ask = (signal: AbortSignal | null = null) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key.value}` },
      body: JSON.stringify(chatBody(model.slug, "long")),
      signal,
    });
  const running = [ask(), ask()];
  await eventually(() => held.length === 2);
  const used = () => gateway.services.limiter.statusOf(key);
  const usedBefore = used();
  const leaving = new AbortController();
  const left = ask(leaving.signal).catch(() => "left");
  const waited = ask();
  await eventually(() => used().concurrentRequests === 4);
  leaving.abort();
  t.is(await left, "left");
  await eventually(() => used().concurrentRequests === 3);
  const { status, headers } = await waited;
  t.is(status, 503);
  t.is(headers.get("x-ratelimit-remaining-requests"), "7", "the two that run");
  t.deepEqual(used(), usedBefore);
  for (const release of held) release();
  for (const answer of running) t.is((await answer).status, 200);
  const again = ask();
  await eventually(() => held.length === 3);
  held[2]?.();
  t.is((await again).status, 200);
});

const limits = shareLimits();

test("a key at ten times its limit receives its limit and delays no other key", async (t) => {
  const { gateway, upstream, model, keyWith } = limits();
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

import test from "ava";
import { timeRequest } from "../../gateway/usage/recording/build-usage-record.ts";
import { addModel, answersWith, askModel } from "../helpers/add-model.ts";
import { askHistory } from "../helpers/ask-history.ts";
import { eventually } from "../helpers/eventually.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { sendCompletion } from "../helpers/scripted-upstream.ts";
import { allDatabaseKinds } from "../helpers/test-database.ts";
import { createKey, startTestGateway, usageOf } from "../helpers/test-gateway.ts";

const timingQuery = `query($id: ID!) {
  usageRecord(id: $id) { timing { receivedMs attempts { provider model startMs durationMs failure } } } }`;

for (const kind of allDatabaseKinds) {
  test(`${kind}: a fallback's record has the time and failure of each attempt`, async (t) => {
    const gateway = await startTestGateway(t, { kind });
    const last = await addModel(t, gateway, (response) => sendCompletion(response));
    const away = await addModel(t, gateway, { url: "http://127.0.0.1:1" });
    const limited = await addModel(t, gateway, answersWith(429), [away.slug, last.slug]);

    const { record } = await askModel(gateway, limited.slug);
    const timing = record?.timing ?? { receivedMs: -1, attempts: [] };
    t.deepEqual(
      timing.attempts.map(({ provider, model, failure }) => [provider, model, failure]),
      [
        [limited.name, `${limited.name}-upstream`, "http_429"],
        [away.name, `${away.name}-upstream`, "connection_refused"],
        [last.name, `${last.name}-upstream`, null],
      ],
    );
    let earliestMs = timing.receivedMs;
    t.true(earliestMs >= 0);
    for (const { startMs, durationMs } of timing.attempts) {
      // Start and duration are rounded separately.
      t.true(startMs >= earliestMs - 1 && durationMs >= 0, JSON.stringify(timing));
      earliestMs = startMs + durationMs;
    }
    t.true(earliestMs <= (record?.latencyMs ?? 0) + 1);

    const { data } = await askHistory(gateway, gateway.accessToken, timingQuery, {
      variables: { id: record?.id },
    });
    t.deepEqual(data, { usageRecord: { timing } });
  });
}

test("a request that starts its only attempt at once stores no times", async (t) => {
  const gateway = await startTestGateway(t);
  const { record } = await askModel(gateway, "demo/echo");
  t.is(record?.timing, null);
  const { data } = await askHistory(gateway, gateway.accessToken, timingQuery, {
    variables: { id: record?.id },
  });
  t.deepEqual(data, { usageRecord: { timing: null } });
});

test("the record of a queued request has the end of the wait", async (t) => {
  const gateway = await startTestGateway(t, { environment: { CONCURRENT_REQUESTS_MAX: "1" } });
  const held: (() => void)[] = [];
  const { slug } = await addModel(t, gateway, (response) => void held.push(() => sendCompletion(response)));
  const first = await createKey(gateway, [slug]);
  const second = await createKey(gateway, [slug]);
  const answers = [postChat(gateway, first.value, chatBody(slug))];
  await eventually(() => held.length === 1);
  const beganAt = performance.now();
  answers.push(postChat(gateway, second.value, chatBody(slug)));
  await eventually(() => performance.now() - beganAt > 100);
  held[0]?.();
  await eventually(() => held.length === 2);
  held[1]?.();
  for (const { status } of await Promise.all(answers)) t.is(status, 200);
  const [record] = await usageOf(gateway, second.id);
  const [attempt, ...others] = record?.timing?.attempts ?? [];
  t.deepEqual(others, []);
  t.true((attempt?.startMs ?? 0) - (record?.timing?.receivedMs ?? 0) >= 50, JSON.stringify(record?.timing));
});

test("a record has the times of at most eight attempts", (t) => {
  const failed = { provider: "test", model: "model", startMs: 1, durationMs: 1, failure: "http_429" };
  const candidate = { providerName: "test", upstreamModel: { name: "model" } };
  const moments = { startedAt: 0, receivedAt: 0, calledAt: 1, attemptedAt: 9, candidate };
  for (const [attempts, failures, stored] of [
    [8, 7, 8],
    [8, 8, 8],
    [20, 8, 8],
  ] as const) {
    const failedAttempts = Array.from({ length: failures }, () => failed);
    t.is(timeRequest({ ...moments, attempts, failedAttempts })?.attempts.length, stored);
  }
});

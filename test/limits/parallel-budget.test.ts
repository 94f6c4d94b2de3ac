import test from "ava";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import { startTestGateway, usageOf } from "../helpers/test-gateway.ts";

/** The upstream reports 2 output tokens, so each request costs 0.06 dollars. */
const prices = { input: 0, output: 30_000 };
const asked = { max_tokens: 2 };
const budgetUsd = 0.05;

const holders = {
  key: null,
  person: "PERSON_BUDGET_USD_PER_DAY_MAX",
  gateway: "GATEWAY_BUDGET_USD_PER_DAY_MAX",
};

for (const [index, [holder, variable]] of Object.entries(holders).entries()) {
  const kind = databaseKinds[index % databaseKinds.length] ?? "sqlite";
  test(`${kind}: 100 parallel requests pass a ${holder}'s budget by at most one of them`, async (t) => {
    const upstream = await createUpstream(t, (_, response) => sendCompletion(response));
    const environment = variable === null ? {} : { [variable]: String(budgetUsd) };
    const gateway = await startTestGateway(t, { kind, environment });
    const { value, id, model, modelId } = await connectUpstream(gateway, upstream);
    await gateway.admin.models.update.mutate({ id: modelId, prices });
    if (variable === null) {
      await gateway.admin.keys.setLimits.mutate({ id, limits: { budgetsUsd: { day: budgetUsd } } });
    }
    const bodies = Array.from({ length: 100 }, () => chatBody(model, "Hello", asked));
    const answers = await Promise.all(bodies.map((body) => postChat(gateway, value, body)));
    const records = await usageOf(gateway, id);
    t.is(
      records.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
      60_000_000,
    );
    t.is(upstream.requests.length, 1);
    t.is(answers.filter(({ status }) => status === 200).length, 1);
    for (const { status, headers, text } of answers) {
      if (status === 200) continue;
      t.true(status === 402 || status === 429, `${status} ${text}`);
      if (status === 429) t.regex(headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    }
    t.is((await postChat(gateway, value, bodies[0])).status, 402, "it is spent");
  });
}

test("a request that waited too long gets 429 and succeeds afterwards", async (t) => {
  const first = Promise.withResolvers<() => void>();
  let requests = 0;
  const upstream = await createUpstream(t, (_, response) => {
    if (requests++ === 0) first.resolve(() => sendCompletion(response));
    else sendCompletion(response);
  });
  const gateway = await startTestGateway(t, { environment: { QUEUE_WAIT_MS_MAX: "1" } });
  const { value, id, model, modelId } = await connectUpstream(gateway, upstream);
  await gateway.admin.models.update.mutate({ id: modelId, prices });
  await gateway.admin.keys.setLimits.mutate({ id, limits: { budgetsUsd: { day: 0.15 } } });
  // It reserves 0.12 dollars, and costs 0.06.
  const large = postChat(gateway, value, chatBody(model, "Hello", { max_tokens: 4 }));
  const answer = await first.promise;
  const body = chatBody(model, "Hello", asked);
  const refused = await postChat(gateway, value, body);
  t.is(refused.status, 429);
  t.is(refused.headers.get("retry-after"), "5");
  t.regex(refused.text, /Requests in progress hold the rest of the budget for this API key/);
  t.notRegex(refused.text, /insufficient_quota/);
  answer();
  t.is((await large).status, 200);
  t.is((await postChat(gateway, value, body)).status, 200);
  const [, record] = await usageOf(gateway, id);
  t.like(record, {
    httpStatus: 429,
    errorCode: "rate_limit_exceeded",
    limitedBy: "key",
    errorReason: "budget_per_day",
  });
});

test("ten parallel requests of a tool do not wait while a budget has room", async (t) => {
  const all = Promise.withResolvers<void>();
  const held = { count: 0 };
  // No answer before the tenth request: if one of them waited for another, none would be answered.
  const upstream = await createUpstream(t, async (_, response) => {
    if (++held.count % 10 === 0) all.resolve();
    await all.promise;
    sendCompletion(response);
  });
  const environment = {
    PERSON_BUDGET_USD_PER_DAY_MAX: "0.1",
    GATEWAY_BUDGET_USD_PER_DAY_MAX: "0.1",
    QUEUED_REQUESTS_PER_KEY_MAX: "0",
  };
  const gateway = await startTestGateway(t, { environment });
  const { value, id, model, modelId } = await connectUpstream(gateway, upstream);
  await gateway.admin.models.update.mutate({ id: modelId, prices: { input: 3, output: 15 } });
  await gateway.admin.keys.setLimits.mutate({ id, limits: { budgetsUsd: { day: 0.1 } } });
  // Coding tools ask for far more output than they use.
  const bodies = Array.from({ length: 10 }, () => chatBody(model, "Hello", { max_tokens: 64_000 }));
  const answers = await Promise.all(bodies.map((body) => postChat(gateway, value, body)));
  t.deepEqual(
    answers.map(({ status }) => status),
    bodies.map(() => 200),
  );
});

import test, { type ExecutionContext } from "ava";
import { addModel } from "../helpers/add-model.ts";
import { askHistory } from "../helpers/ask-history.ts";
import { eventually } from "../helpers/eventually.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { spendCent, startPriced } from "../helpers/priced-gateway.ts";
import { sendCompletion } from "../helpers/scripted-upstream.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";
import { startValkey, valkeyProgram } from "../helpers/valkey-server.ts";

const ofKey = {
  requestsPerMinute: 1,
  tokensPerMinute: 1_000,
  concurrentRequests: 1,
  budgetsUsd: { total: 0.01 },
};
const ofPerson = {
  PERSON_REQUESTS_PER_MINUTE_MAX: "1",
  PERSON_TOKENS_PER_MINUTE_MAX: "1000",
  PERSON_CONCURRENT_REQUESTS_MAX: "1",
  PERSON_BUDGET_USD_PER_MONTH_MAX: "0.01",
};
// No variable limits the concurrent requests of the whole gateway. CONCURRENT_REQUESTS_MAX limits each process.
const ofGateway = {
  GATEWAY_REQUESTS_PER_MINUTE_MAX: "1",
  GATEWAY_TOKENS_PER_MINUTE_MAX: "1000",
  GATEWAY_BUDGET_USD_PER_MONTH_MAX: "0.01",
};

test("the error names the period of the spent budget", async (t) => {
  const gateway = await startTestGateway(t);
  for (const [period, reason] of [
    ["day", "budget_per_day"],
    ["week", "budget_per_week"],
    ["month", "budget_per_month"],
    ["total", "budget_total"],
  ] as const) {
    const limits = { budgetsUsd: { [period]: 0 } };
    const criteria = { name: "Broke", models: ["demo/echo"], limits };
    const { key, value } = await gateway.admin.keys.create.mutate(criteria);
    t.is((await postChat(gateway, value, chatBody("demo/echo"))).status, 402);
    t.deepEqual(await endingsOf(gateway, key.id), [["insufficient_quota", "KEY", reason]]);
  }
});

for (const { whose, limits, environment } of [
  { whose: "KEY", limits: ofKey, environment: {} },
  { whose: "PERSON", limits: {}, environment: ofPerson },
  { whose: "GATEWAY", limits: {}, environment: ofGateway },
]) {
  test(`the usage history names the limit or budget that refused: ${whose}`, async (t) => {
    const clock = { aheadMs: 0 };
    const runtime = { now: () => Date.now() + clock.aheadMs };
    const gateway = await startPriced(t, environment, { runtime });
    const { slug, hold } = await addHeldModel(t, gateway);
    const { key, value } = await gateway.admin.keys.create.mutate({
      name: "Limited",
      models: [slug, "demo/echo"],
      limits,
    });
    const statuses = [(await postChat(gateway, value, chatBody(slug, "far too much ".repeat(500)))).status];
    const held = await hold(value);
    if (whose !== "GATEWAY") statuses.push((await postChat(gateway, value, chatBody(slug))).status);
    held.release();
    t.is(await held.status, 200);
    statuses.push((await postChat(gateway, value, chatBody(slug))).status);
    clock.aheadMs += 61_000;
    t.is((await spendCent(gateway, value)).status, 200);
    statuses.push((await spendCent(gateway, value)).status);
    t.deepEqual(statuses, whose === "GATEWAY" ? [429, 429, 402] : [429, 429, 429, 402]);

    t.deepEqual(await endingsOf(gateway, key.id), [
      ["token_limit_exceeded", whose, "tokens_per_minute"],
      [null, null, null],
      ...(whose === "GATEWAY" ? [] : [["concurrency_limit_exceeded", whose, "concurrent_requests"]]),
      ["rate_limit_exceeded", whose, "requests_per_minute"],
      [null, null, null],
      ["insufficient_quota", whose, whose === "KEY" ? "budget_total" : "budget_per_month"],
    ]);
  });
}

test("a refusal for another reason blames no limit", async (t) => {
  const environment = { CONCURRENT_REQUESTS_MAX: "1", QUEUED_REQUESTS_PER_KEY_MAX: "0" };
  const gateway = await startTestGateway(t, { environment });
  const { slug, hold } = await addHeldModel(t, gateway);
  const empty = await addModel(t, gateway, (response) => {
    response.writeHead(429, { "content-type": "application/json" });
    response.end('{"error":{"message":"Your account is empty.","code":"insufficient_quota"}}');
  });
  const key = await createKey(gateway, [slug, empty.slug]);

  await postChat(gateway, key.value, chatBody("test/none"));
  await postChat(gateway, key.value, chatBody(empty.slug));
  const held = await hold(key.value);
  t.is((await postChat(gateway, key.value, chatBody(slug))).status, 503);
  held.release();
  t.is(await held.status, 200);
  const limits = { addressRanges: ["10.0.0.0/8"] };
  await gateway.admin.keys.setLimits.mutate({ id: key.id, limits });
  t.is((await postChat(gateway, key.value, chatBody(slug))).status, 401);

  t.deepEqual(await endingsOf(gateway, key.id), [
    ["model_not_found", null, "model_not_found"],
    ["insufficient_quota", null, "http_429"],
    [null, null, null],
    ["service_unavailable", null, "service_unavailable"],
    ["address_not_allowed", null, "address_not_allowed"],
  ]);
});

if (valkeyProgram) {
  test("the refusing limit is recorded with Valkey, too", async (t) => {
    const { url } = await startValkey(t);
    const environment = { VALKEY_URL: url, PERSON_REQUESTS_PER_MINUTE_MAX: "1" };
    const gateway = await startTestGateway(t, { environment });
    const key = await createKey(gateway);
    for (const status of [200, 429])
      t.is((await postChat(gateway, key.value, chatBody("demo/echo"))).status, status);
    t.deepEqual(await endingsOf(gateway, key.id), [
      [null, null, null],
      ["rate_limit_exceeded", "PERSON", "requests_per_minute"],
    ]);
  });
}

async function addHeldModel(t: ExecutionContext, gateway: TestGateway) {
  const held: (() => void)[] = [];
  const { slug } = await addModel(t, gateway, (response) => {
    held.push(() => sendCompletion(response));
  });
  const hold = async (keyValue: string) => {
    const answer = postChat(gateway, keyValue, chatBody(slug));
    const release = await eventually(() => held[0]);
    return { release, status: answer.then(({ status }) => status) };
  };
  return { slug, hold };
}

async function endingsOf(gateway: TestGateway, id: string): Promise<(string | null)[][]> {
  await gateway.services.recorder.flush();
  const query = `query ($id: ID) {
    usageRecords(filter: { apiKeyId: $id }) { edges { node { errorCode limitedBy errorReason } } } }`;
  type Ending = Record<"errorCode" | "limitedBy" | "errorReason", string | null>;
  type Page = { usageRecords: { edges: { node: Ending }[] } };
  const { data, text } = await askHistory<Page>(gateway, gateway.accessToken, query, { variables: { id } });
  if (!data) throw new Error(text);
  const endings = data.usageRecords.edges.map(({ node }) => [
    node.errorCode,
    node.limitedBy,
    node.errorReason,
  ]);
  return endings.toReversed();
}

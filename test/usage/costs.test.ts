import { once } from "node:events";
import { createServer } from "node:net";
import test, { type ExecutionContext } from "ava";
import type { TokenUsage } from "../../gateway/wire/token-usage.ts";
import { isUnsent, priceRequest } from "../../gateway/usage/counting/cost.ts";
import { recomputeCosts } from "../../gateway/usage/history/recompute-costs.ts";
import { addModel, answersWith, type Script } from "../helpers/add-model.ts";
import { askHistory } from "../helpers/ask-history.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { chatBody, postChat, postTo } from "../helpers/post-chat.ts";
import { createPromptedUpstream, type PromptedUpstream } from "../helpers/prompted-upstream.ts";
import { createRawUpstream } from "../helpers/raw-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";
import { eventually } from "../helpers/eventually.ts";
import { listen } from "../helpers/listen.ts";

// Recorded costs are in nano-dollars, and prices in US dollars per million tokens.
const shared = sharedByFile();
let gateway: TestGateway;
/** A gateway that shares the database of `gateway`, but must not call private addresses. */
let guarded: TestGateway;
let upstream: PromptedUpstream;

test.before(async () => {
  upstream = await createPromptedUpstream(shared);
  gateway = await startTestGateway(shared);
  const { DATABASE_URL = "", DATA_DIR = "" } = gateway.environment;
  const environment = { DATABASE_URL, DATA_DIR, UPSTREAM_PRIVATE_HOSTS: "" };
  guarded = await startTestGateway(shared, { environment });
});

type Prices = { input?: number | null; cachedInput?: number | null; output?: number | null };

const full: Prices = { input: 2.5, cachedInput: 0.25, output: 10 };
const counts: TokenUsage = {
  inputTokens: 1_000,
  outputTokens: 200,
  cachedInputTokens: null,
  cacheWriteInputTokens: null,
  reasoningTokens: null,
};
const cases: [title: string, prices: Prices, usage: TokenUsage, cost: number | null][] = [
  ["tokens times prices", full, counts, 4_500_000],
  [
    "cached input has its own price",
    full,
    { ...counts, cachedInputTokens: 400 },
    600 * 2_500 + 400 * 250 + 200 * 10_000,
  ],
  [
    "cached input without a price costs what input costs",
    { input: 2.5, output: 10 },
    { ...counts, cachedInputTokens: 400 },
    4_500_000,
  ],
  ["reasoning is part of the output", full, { ...counts, reasoningTokens: 150 }, 4_500_000],
  ["a price of 0 is a price", { input: 0, output: 0 }, counts, 0],
  [
    "less than a nano-dollar is rounded",
    { input: 0.0004, output: 0.0001 },
    { ...counts, inputTokens: 1, outputTokens: 1 },
    1,
  ],
  [
    "large sums are exact",
    { input: 1_000, output: 0 },
    { ...counts, inputTokens: 2_000_000_001, outputTokens: 0 },
    2_000_000_001e6,
  ],
  ["no prices, no cost", {}, counts, null],
  ["one price is not enough", { input: 2.5 }, counts, null],
];
for (const [title, { input, cachedInput, output }, usage, cost] of cases) {
  test(title, (t) => {
    const nano = (usd: number | null = null) => usd && usd * 1e9;
    const prices = {
      inputPrice: nano(input),
      cachedInputPrice: nano(cachedInput),
      outputPrice: nano(output),
    };
    t.is(priceRequest({ ...prices, cacheWritePrice: null }, usage, new Date()).cost, cost);
  });
}

const refused: [title: string, prices: Prices][] = [
  ["a refusal of a free model costs nothing", { input: 0, output: 0 }],
  ["a refusal of a priced model costs nothing", full],
  ["a refusal of a model without prices costs nothing", {}],
];
for (const [index, [title, prices]] of refused.entries()) {
  test(title, async (t) => {
    const settings = { name: `refusing-${index}`, prices };
    const { id, value, model } = await connectUpstream(gateway, upstream, settings);
    upstream.scripts.set(title, (response) => void response.writeHead(400).end());
    t.is((await postChat(gateway, value, chatBody(model, title))).status, 400);
    const [record] = await usageOf(gateway, id);
    t.is(record?.inputTokens, null);
    t.is(record?.cost, 0);
    // `usage:recompute` keeps the cost of such a record.
    t.true(record && isUnsent(record));
  });
}

test("a new price applies to later requests, and past records keep theirs", async (t) => {
  const { id, value } = await createKey(gateway, ["demo/echo"]);
  for (const output of [1, 2]) {
    await gateway.admin.models.update.mutate({ slug: "demo/echo", prices: { input: 0, output } });
    await postChat(gateway, value, chatBody("demo/echo", "one two three"));
  }
  const costs = (await usageOf(gateway, id)).map(({ cost }) => cost);
  t.deepEqual(costs.toSorted(), [3_000, 6_000]);
});

const reports =
  (usage: object): Script =>
  (response) => {
    const message = { role: "assistant", content: "Hi" };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: "stop" }], usage }));
  };

const billedCounts = { prompt_tokens: 1_000, completion_tokens: 100 };
const billedPrices = { input: 1, output: 10 };
const ours = 2_000_000;
const day = () => ({ from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) });

// The rows have the cost formats of OpenRouter, Perplexity, DeepInfra, xAI, and OpenRouter with a customer's key, in
// this order.
const reported: [usage: object, cost: number][] = [
  [{ ...billedCounts, cost: 0.00014 }, 140_000],
  [{ ...billedCounts, cost: { input_tokens_cost: 0.001, total_cost: 0.0065 } }, 6_500_000],
  [{ ...billedCounts, estimated_cost: 0.00002 }, 20_000],
  [{ ...billedCounts, cost_in_usd_ticks: 37_756_000 }, 3_775_600],
  [
    { ...billedCounts, cost: 0.00005, is_byok: true, cost_details: { upstream_inference_cost: 0.001 } },
    1_050_000,
  ],
];
for (const [usage, cost] of reported) {
  test(`a provider's cost of ${cost} nano-dollars is recorded and can be the truth`, async (t) => {
    const { slug, providerId } = await addModel(t, gateway, reports(usage));
    await gateway.admin.models.update.mutate({ slug, prices: billedPrices });
    const { id, value } = await createKey(gateway, [slug]);
    await postChat(gateway, value, chatBody(slug));
    t.like((await usageOf(gateway, id))[0], { cost: ours, providerCost: cost, costDetails: null });

    await gateway.admin.providers.update.mutate({ id: providerId, costSource: "provider" });
    await postChat(gateway, value, chatBody(slug));
    const [record] = await usageOf(gateway, id);
    t.like(record, { cost, providerCost: cost, costDetails: { source: "provider" } });
    const sum = record?.costDetails?.lines.reduce((total, { amount }) => total + (amount ?? 0), 0);
    t.is(sum, ours, "our own figure stays beside it");

    // Recomputing applies the provider's new `costSource` to the first record, too.
    await recomputeCosts(gateway.services.database, { ...day(), model: slug });
    t.deepEqual(
      (await usageOf(gateway, id)).map((each) => each.cost),
      [cost, cost],
    );
    t.like(await recomputeCosts(gateway.services.database, { ...day(), model: slug }), [{ changed: 0 }]);
  });
}

test("the factors of a provider and a key multiply the charge, not the cost", async (t) => {
  const { slug, providerId } = await addModel(t, gateway, reports(billedCounts));
  await gateway.admin.models.update.mutate({ slug, prices: billedPrices });
  await gateway.admin.providers.update.mutate({ id: providerId, chargeFactor: 1.2 });
  const { id, value } = await createKey(gateway, [slug]);
  t.is((await gateway.admin.keys.setChargeFactor.mutate({ id, chargeFactor: 0.5 })).chargeFactor, 0.5);
  await postChat(gateway, value, chatBody(slug));
  const [record] = await usageOf(gateway, id);
  t.like(record, { cost: ours, markup: 1_200_000 - ours, costDetails: { factor: 0.6 } });

  // Recomputing with another price keeps the recorded factor.
  await gateway.admin.providers.update.mutate({ id: providerId, chargeFactor: null });
  await gateway.admin.models.update.mutate({ slug, prices: { input: 2, output: 20 } });
  await recomputeCosts(gateway.services.database, { ...day(), model: slug });
  t.like((await usageOf(gateway, id))[0], { cost: 2 * ours, markup: -1_600_000 });

  for (const dimension of ["OWNER", "API_KEY", "MODEL", "PROVIDER"]) {
    const query = `{ usageSummary(filter: { model: "${slug}" }, groupBy: [${dimension}]) { requests costUsd chargeUsd } }`;
    const { data } = await askHistory(gateway, gateway.accessToken, query);
    t.deepEqual(data, { usageSummary: [{ requests: 1, costUsd: "0.004", chargeUsd: "0.0024" }] }, dimension);
  }
});

test("embeddings follow the same rules", async (t) => {
  const { slug } = await addModel(t, gateway, (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const usage = { prompt_tokens: 1_000, total_tokens: 1_000, cost: 0.5 };
    response.end(
      JSON.stringify({ object: "list", data: [{ object: "embedding", index: 0, embedding: [1] }], usage }),
    );
  });
  const rules = [{ when: { inputTokensAbove: 500 }, prices: { input: 0.2 } }];
  await gateway.admin.models.update.mutate({ slug, prices: { input: 0.1, rules } });
  const { id, value } = await createKey(gateway, [slug]);
  await postTo(
    gateway,
    "/v1/embeddings",
    { authorization: `Bearer ${value}` },
    { model: slug, input: "Hello" },
  );
  t.like((await usageOf(gateway, id))[0], { cost: 200_000, providerCost: 500_000_000 });
});

test("recomputing with unchanged prices changes nothing", async (t) => {
  const details = { cached_tokens: 300, audio_tokens: 20 };
  const { slug } = await addModel(t, gateway, reports({ ...billedCounts, prompt_tokens_details: details }));
  const rules = [{ when: { inputTokensAbove: 900 }, prices: { input: 3 } }];
  await gateway.admin.models.update.mutate({ slug, prices: { ...billedPrices, audioInput: 40, rules } });
  const { id, value } = await createKey(gateway, [slug]);
  await postChat(gateway, value, chatBody(slug));
  const before = await usageOf(gateway, id);
  t.is(before[0]?.cost, 680 * 3_000 + 300 * 3_000 + 20 * 40_000 + 100 * 10_000);
  t.like(await recomputeCosts(gateway.services.database, { ...day(), model: slug }), [
    { records: 1, changed: 0 },
  ]);
  t.deepEqual(await usageOf(gateway, id), before);
});

// A call without a response costs nothing if no byte of the request was sent.
async function pricedModel(
  t: ExecutionContext,
  where: { url: string } | Script,
  fallbacks: string[] = [],
): Promise<string> {
  const { slug } = await addModel(t, gateway, where, fallbacks);
  await gateway.admin.models.update.mutate({ slug, prices: { input: 3, output: 15 } });
  return slug;
}

async function recordOf(slug: string, at = gateway) {
  const { id, value } = await createKey(at, [slug]);
  const { status } = await postChat(at, value, chatBody(slug));
  const [record] = await usageOf(at, id);
  return { status, record };
}

const places: [what: string, url: (t: ExecutionContext) => Promise<string>, isGuarded: boolean][] = [
  ["a refused connection", async () => "http://127.0.0.1:1", false],
  ["a host that is not found", async () => "http://no-such-host.invalid", false],
  ["a private address that is refused", async () => "http://127.0.0.1:1", true],
  [
    "TLS that fails",
    async (t) => {
      const server = createServer((socket) => socket.end("HTTP/1.1 400 No\r\n\r\n"));
      return (await createRawUpstream(t, () => {}, server)).url.replace("http", "https");
    },
    false,
  ],
];
for (const [what, url, isGuarded] of places) {
  test(`${what} costs nothing, also after a recomputation`, async (t) => {
    const at = isGuarded ? guarded : gateway;
    const slug = await pricedModel(t, { url: await url(t) });
    const { status, record } = await recordOf(slug, at);
    t.is(status, 502);
    t.like(record, {
      attempts: 1,
      errorCode: "upstream_error",
      cost: 0,
      inputTokens: null,
      inputPrice: null,
    });

    const { database } = at.services;
    t.like(await recomputeCosts(database, { ...day(), model: slug }), [
      { records: 1, changed: 0, unknownAfter: 0 },
    ]);
  });
}

test("a connection that breaks after the request has an unknown cost", async (t) => {
  const slug = await pricedModel(t, (response) => void response.socket?.destroy());
  t.like((await recordOf(slug)).record, { attempts: 1, cost: null, inputPrice: 3e9 });
});

for (const status of [400, 429, 500, 503]) {
  test(`a provider that responds with HTTP ${status} costs nothing`, async (t) => {
    const slug = await pricedModel(t, answersWith(status));
    t.like((await recordOf(slug)).record, { attempts: 1, cost: 0, inputPrice: null });
  });
}

for (const status of [502, 504, 524]) {
  test(`a proxy that responds with HTTP ${status} leaves the cost unknown`, async (t) => {
    const slug = await pricedModel(t, answersWith(status));
    t.like((await recordOf(slug)).record, { attempts: 1, cost: null, inputPrice: 3e9 });
  });
}

test("two unreachable providers cost nothing", async (t) => {
  const other = await pricedModel(t, { url: "http://127.0.0.1:1" });
  const slug = await pricedModel(t, { url: "http://127.0.0.1:2" }, [other]);
  t.like((await recordOf(slug)).record, { attempts: 2, cost: 0 });
});

test("refusals and unreachable providers cost nothing together", async (t) => {
  const refusing = await pricedModel(t, answersWith(503));
  const away = await pricedModel(t, { url: "http://127.0.0.1:1" });
  const first = await pricedModel(t, answersWith(503), [away]);
  const last = await pricedModel(t, { url: "http://127.0.0.1:2" }, [refusing]);
  t.like((await recordOf(first)).record, { attempts: 2, cost: 0 });
  t.like((await recordOf(last)).record, { attempts: 2, cost: 0 });
});

test("the cost is unknown if one of two providers may have worked", async (t) => {
  const broken = await pricedModel(t, answersWith(504));
  const slug = await pricedModel(t, answersWith(503), [broken]);
  t.like((await recordOf(slug)).record, { attempts: 2, cost: null });
});

test("a client that leaves during the connect costs nothing", async (t) => {
  // The server accepts the connection and stays silent, so the TLS handshake never completes.
  const server = createServer((socket) => socket.on("error", () => {}));
  const slug = await pricedModel(t, { url: `https://127.0.0.1:${await listen(t, server)}` });
  const { id, value } = await createKey(gateway, [slug]);
  const leaving = new AbortController();
  const connected = once(server, "connection");
  const asked = postChat(gateway, value, chatBody(slug), leaving.signal).catch(() => null);
  await connected;
  leaving.abort();
  await asked;
  const record = await eventually(async () => (await usageOf(gateway, id))[0] ?? false);
  t.like(record, { status: "CANCELLED", cost: 0, inputTokens: null, estimated: false });
});

import test from "ava";
import { costOf, isUnsent } from "../../gateway/usage/counting/cost.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createPromptedUpstream, type PromptedUpstream } from "../helpers/prompted-upstream.ts";
import { beginStream, chunkEvent, doneEvent } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

// Costs over HTTP are in nano-dollars, and prices in dollars per million tokens.
const shared = sharedByFile();
let gateway: TestGateway;
let upstream: PromptedUpstream;

test.before(async () => {
  upstream = await createPromptedUpstream(shared);
  gateway = await startTestGateway(shared);
});

type Prices = { input?: number | null; cachedInput?: number | null; output?: number | null };

const full: Prices = { input: 2.5, cachedInput: 0.25, output: 10 };
const counts = { prompt_tokens: 1_000, completion_tokens: 200 };
const cases: [title: string, prices: Prices, usage: object | null, cost: number | null][] = [
  ["tokens times prices", full, counts, 4_500_000],
  [
    "cached input has its own price",
    full,
    { ...counts, prompt_tokens_details: { cached_tokens: 400 } },
    600 * 2_500 + 400 * 250 + 200 * 10_000,
  ],
  [
    "cached input without a price costs what input costs",
    { input: 2.5, output: 10 },
    { ...counts, prompt_tokens_details: { cached_tokens: 400 } },
    4_500_000,
  ],
  [
    "reasoning is part of the output",
    full,
    { ...counts, completion_tokens_details: { reasoning_tokens: 150 } },
    4_500_000,
  ],
  ["a price of 0 is a price", { input: 0, output: 0 }, counts, 0],
  [
    "less than a nano-dollar is rounded",
    { input: 0.0004, output: 0.0001 },
    { prompt_tokens: 1, completion_tokens: 1 },
    1,
  ],
  [
    "large sums are exact",
    { input: 1_000, output: 0 },
    { prompt_tokens: 2_000_000_001, completion_tokens: 0 },
    2_000_000_001e6,
  ],
  ["no prices, no cost", {}, counts, null],
  ["one price is not enough", { input: 2.5 }, counts, null],
];
for (const [index, [title, prices, usage, cost]] of cases.entries()) {
  test(`${title}, in a response and in a stream`, async (t) => {
    const { id, value, model, modelId } = await connectUpstream(gateway, upstream, {
      name: `provider-${index}`,
    });
    await gateway.admin.models.update.mutate({ id: modelId, prices });
    upstream.scripts.set(title, (response, { body }) => {
      if (!body.includes('"stream"')) {
        response.writeHead(200, { "content-type": "application/json" });
        return void response.end(JSON.stringify({ choices: [], usage }));
      }
      beginStream(response);
      response.end(`${chunkEvent("Hi")}data: ${JSON.stringify({ choices: [], usage })}\n\n${doneEvent}`);
    });

    t.is((await postChat(gateway, value, chatBody(model, title))).status, 200);
    t.is((await postChat(gateway, value, chatBody(model, title, { stream: true }))).status, 200);

    const records = await usageOf(gateway, id);
    t.deepEqual(
      records.map((record) => record.cost),
      [cost, cost],
    );
    // The record contains its prices, so that its cost can be recomputed.
    for (const record of records) t.is(costOf(record, record), record.cost);
  });
}

const refused: [title: string, prices: Prices][] = [
  ["a refusal of a free model costs nothing", { input: 0, output: 0 }],
  ["a refusal of a priced model costs nothing", full],
  ["a refusal of a model without prices costs nothing", {}],
];
for (const [index, [title, prices]] of refused.entries()) {
  test(title, async (t) => {
    const { id, value, model, modelId } = await connectUpstream(gateway, upstream, {
      name: `refusing-${index}`,
    });
    await gateway.admin.models.update.mutate({ id: modelId, prices });
    upstream.scripts.set(title, (response) => void response.writeHead(400).end());
    t.is((await postChat(gateway, value, chatBody(model, title))).status, 400);
    const [record] = await usageOf(gateway, id);
    t.is(record?.inputTokens, null);
    t.is(record?.cost, 0);
    // `usage:recompute` leaves such records alone.
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

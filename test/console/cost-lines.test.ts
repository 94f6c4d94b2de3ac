import test from "ava";
import { addModel } from "../helpers/add-model.ts";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createKey, startTestGateway, usageOf } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest("a request's cost is explained line by line, with its source and charge", async (t) => {
  const gateway = await startTestGateway(t);
  let tier = "priority";
  const { slug, providerId } = await addModel(t, gateway, (response) => {
    const message = { role: "assistant", content: "Hi" };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    const details = { prompt_tokens_details: { cached_tokens: 400 } };
    const usage = { prompt_tokens: 1_400, completion_tokens: 100, ...details, cost: 0.0071 };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ choices, usage, service_tier: tier }));
  });
  const rules = [{ when: { serviceTier: "priority" }, factor: 2 }];
  await gateway.admin.models.update.mutate({
    slug,
    prices: { input: 1, cachedInput: 0.1, output: 10, rules },
  });
  const { id: keyId, value } = await createKey(gateway, [slug]);
  await gateway.admin.keys.setChargeFactor.mutate({ id: keyId, chargeFactor: 1.5 });
  const ask = async () => {
    await postChat(gateway, value, chatBody(slug));
    return (await usageOf(gateway, keyId))[0]?.id ?? "";
  };
  const id = await ask();
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/requests/${id}` });
  const region = page.getByRole("dialog").getByRole("region", { name: "Cost breakdown" });
  const lines = async () => {
    await region.getByRole("term").first().waitFor();
    const names = await region.getByRole("term").allInnerTexts();
    const amounts = await region.getByRole("definition").allInnerTexts();
    return names.map((name, index) => `${name.replace(/\s*\n\s*/, ": ")} = ${amounts[index]}`);
  };
  t.deepEqual(await lines(), [
    "Cached input: 400 tokens × $0.20 per 1M · priority × 2 = $0.00008",
    "Input: 1,000 tokens × $2.00 per 1M · priority × 2 = $0.002",
    "Output: 100 tokens × $20.00 per 1M · priority × 2 = $0.002",
    "Reported by the provider: For comparison = $0.0071",
    "Cost = $0.00408",
    "Charge: Cost × 1.5 = $0.00612",
  ]);
  await assertAccessible(t, page);

  await gateway.admin.providers.update.mutate({ id: providerId, costSource: "provider" });
  await page.goto(`/requests/${await ask()}`);
  t.deepEqual((await lines()).slice(3), [
    "At the model's prices = $0.00408",
    "Reported by the provider = $0.0071",
    "Cost: The provider's own figure = $0.0071",
    "Charge: Cost × 1.5 = $0.01065",
  ]);

  await gateway.admin.providers.update.mutate({ id: providerId, costSource: null });
  tier = "ultrafast";
  await page.goto(`/requests/${await ask()}`);
  t.deepEqual((await lines()).slice(-3), [
    "Reported by the provider: For comparison = $0.0071",
    "Cost = unknown",
    "Counted by budgets: Known parts at usual prices = $0.00204",
  ]);
  await assertAccessible(t, page);
});

browserTest("a request without a price says so", async (t) => {
  const gateway = await startTestGateway(t);
  const { slug } = await gateway.admin.models.get.query({ slug: "demo/echo" });
  await gateway.admin.models.update.mutate({ slug, prices: { input: null, output: null } });
  const { id: keyId, value } = await createKey(gateway, [slug]);
  await postChat(gateway, value, chatBody(slug));
  const [record] = await usageOf(gateway, keyId);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/requests/${record?.id}` });
  await page.getByText("The model has no price, or the tokens are unknown.").waitFor();
  t.is(await page.getByRole("region", { name: "Cost breakdown" }).getByRole("term").count(), 0);
});

import test from "ava";
import { addModel, answersWith } from "../helpers/add-model.ts";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { type ConsolePage, openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { sendCompletion } from "../helpers/scripted-upstream.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

async function factsOf(page: ConsolePage, cell: string): Promise<Record<string, string>> {
  const row = page
    .getByRole("region", { name: "Requests" })
    .getByRole("row")
    .filter({ has: page.getByRole("cell", { name: cell, exact: true }) });
  await row.getByRole("link", { name: /request details/ }).click();
  const dialog = page.getByRole("dialog", { name: "Request" });
  await dialog.locator("dt").first().waitFor();
  const labels = await dialog.locator("dt").allInnerTexts();
  const values = await dialog.locator("dd").allInnerTexts();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  return Object.fromEntries(labels.map((label, place) => [label, values[place] ?? ""]));
}

browserTest("missing models show the requested name, and requests without one are grouped", async (t) => {
  const gateway = await startTestGateway(t);
  const { value } = await createKey(gateway);
  await postChat(gateway, value, chatBody("demo/echo"));
  await postChat(gateway, value, chatBody("echo"));
  await postChat(gateway, value, { messages: "none" });
  await gateway.services.recorder.flush();

  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/requests" });
  await page.getByRole("region", { name: "Requests" }).getByRole("row").nth(3).waitFor();
  t.is((await factsOf(page, "echo"))["Model"], "echo");
  t.is((await factsOf(page, "none recorded"))["Model"], "none recorded");
  await page.goto("/usage");
  const chart = page.getByRole("region", { name: "Chart" });
  for (const name of ["demo/echo", "echo", "none recorded"])
    await chart.getByText(name, { exact: true }).first().waitFor();
  await page.goto("/requests");

  for (const [choice, address] of [
    ["echo", "model=echo"],
    ["none recorded", "model=%28none%29"],
  ] as const) {
    await page.getByLabel("Model", { exact: true }).click();
    await page.getByRole("option", { name: choice, exact: true }).click();
    await page.waitForURL((url) => url.search === `?${address}`);
    await page
      .getByRole("region", { name: "Requests" })
      .getByRole("row")
      .nth(2)
      .waitFor({ state: "detached" });
    await page
      .getByRole("region", { name: "Requests" })
      .getByRole("cell", { name: choice, exact: true })
      .waitFor();
  }
  await assertAccessible(t, page);
  await page.reload();
  await page
    .getByRole("region", { name: "Requests" })
    .getByRole("cell", { name: "none recorded", exact: true })
    .waitFor();
  t.is(await page.getByLabel("Model", { exact: true }).innerText(), "none recorded");
});

browserTest("the answering model is shown where one answered, otherwise the requested one", async (t) => {
  const gateway = await startTestGateway(t);
  const answering = await addModel(t, gateway, sendCompletion);
  const refusing = await addModel(t, gateway, answersWith(500));
  const away = await addModel(t, gateway, { url: "http://127.0.0.1:1" });
  const { value } = await createKey(gateway, [answering.slug, refusing.slug, away.slug]);
  for (const { slug } of [answering, refusing, away]) await postChat(gateway, value, chatBody(slug));
  await gateway.services.recorder.flush();

  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/requests" });
  await page.getByRole("region", { name: "Requests" }).getByRole("row").nth(3).waitFor();
  for (const [{ slug, name }, label, other] of [
    [answering, "Served by", "Routed to"],
    [refusing, "Routed to", "Served by"],
    [away, "Routed to", "Served by"],
  ] as const) {
    const facts = await factsOf(page, slug);
    t.is(facts[label], `${name} / ${name}-upstream`);
    t.false(other in facts, slug);
  }
  t.is((await factsOf(page, away.slug))["Cost"], "$0.00");
});
